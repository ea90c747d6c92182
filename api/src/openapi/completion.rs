//! Parts of an operation that all share: security, parameters, errors and their examples.
//!
//! An endpoint declares its own errors in its attribute, by status and description. The bodies, the headers and the
//! errors that every endpoint can have are added here.

use contract::ExportFormat;
use serde_json::{Value, json};
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, ObjectBuilder, Ref, RefOr, Required, Response, Schema, Type,
    path::{self, Parameter, ParameterIn, Paths},
    schema::SchemaType,
    security::SecurityRequirement,
};

use crate::operation::{FaultExample, Operation};

/// Job or search id in examples.
const JOB_ID: &str = "01JD6XQ1V3M4C5T6Y7Z8A9B0CE";

/// Adds to the operation of an endpoint what its `rules` and its path imply.
pub fn complete(paths: &mut Paths, rules: &Operation) {
    for (path, item) in &mut paths.paths {
        let methods = [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete];
        for operation in methods.into_iter().flatten() {
            complete_operation(path, operation, rules);
        }
    }
}

fn complete_operation(path: &str, operation: &mut path::Operation, rules: &Operation) {
    let flow = if path.starts_with("/generator") { "oauth2_implicit" } else { "oauth2_code" };
    operation.security =
        Some(["bearer", flow].map(|scheme| SecurityRequirement::new(scheme, rules.scope)).into());

    let parameters = operation.parameters.as_deref_mut().unwrap_or_default();
    for parameter in parameters {
        if let RefOr::T(parameter) = parameter {
            describe(path, parameter);
        }
    }

    let mut possible = vec!["401", "422", "429", "500", "503"];
    possible.extend(rules.scope.map(|_| "403"));
    if operation.request_body.is_some() {
        possible.extend(["408", "413", "415", "504"]);
    }
    if !path.contains('{') {
        possible.push("400");
    }
    let fault = fault_example(operation, rules);
    let responses = &mut operation.responses.responses;
    for status in possible {
        responses.entry(status.to_owned()).or_insert_with(|| Response::new("").into());
    }
    let errors = responses.iter_mut().filter(|(status, _)| status.as_str() >= "400");
    for (status, response) in errors {
        if let RefOr::T(response) = response {
            let example = if status == "422" { Some(fault.clone()) } else { error_example(status, rules) };
            complete_error(status, response, example);
        }
    }
}

/// Adds body and header of the error `status`. The body is null without an example.
fn complete_error(status: &str, response: &mut Response, example: Option<Value>) {
    if response.description.is_empty() {
        usual_description(status).clone_into(&mut response.description);
    }
    let content = ContentBuilder::new();
    let content = match example {
        Some(_) => content.schema(Some(Ref::from_schema_name("ErrorBody"))).example(example),
        None => content.schema(Some(ObjectBuilder::new().schema_type(Type::Null).build())),
    };
    response.content.insert("application/json".to_owned(), RefOr::T(content.build()));
    let header = match status {
        "401" | "403" => "WWW-Authenticate",
        "429" | "503" => "Retry-After",
        _ => return,
    };
    let text = ObjectBuilder::new().schema_type(Type::String).build();
    let text = HeaderBuilder::new().schema(Some(text)).build();
    response.headers.insert(header.to_owned(), RefOr::T(text));
}

/// Returns the description of an error for which the endpoint has no words of its own.
fn usual_description(status: &str) -> &'static str {
    match status {
        "400" => "The request refers to something that does not exist, or contradicts itself.",
        "401" => "The access token is missing or invalid.",
        "403" => "The access token lacks the scope.",
        "408" => "The body took too long to arrive.",
        "413" => "The body is larger than 1 MiB.",
        "415" => "The body is not JSON.",
        "422" => "The request does not fit the schema; every fault is listed.",
        "429" => "The rate limit of the account is spent, or it has too many requests in flight.",
        "500" => "The answer does not fit the response schema, or an internal failure.",
        "503" => "The service is busy, or a part of it is not available.",
        "504" => "The deadline passed; the job's id is in the message.",
        _ => "",
    }
}

/// Returns the body of the error `status`; `None` if it is null.
fn error_example(status: &str, rules: &Operation) -> Option<Value> {
    const AUTHORIZATION: [&str; 2] = ["header", "authorization"];
    Some(match status {
        "401" => fault(&AUTHORIZATION, "not_authenticated", "an access token is required"),
        "403" => {
            let msg = format!("The access token lacks the scope {}", rules.scope.unwrap_or_default());
            fault(&AUTHORIZATION, "insufficient_scope", &msg)
        }
        "408" => fault(&["body"], "body_too_slow", "The body took too long to arrive"),
        "409" => fault(&[], "conflict", "The job is done; it cannot be retried"),
        "413" => fault(&["body"], "body_too_large", "The body is larger than 1 MiB"),
        "415" => fault(
            &["header", "content-type"],
            "unsupported_media_type",
            "The body should be application/json",
        ),
        "429" => fault(&[], "rate_limited", "The rate limit of this account is spent"),
        "500" => fault(&[], "internal_error", "Internal error"),
        "503" => fault(&[], "unavailable", "No worker for this operation is running"),
        "504" => {
            let msg = format!("The deadline of job {JOB_ID} passed before it was done");
            fault(&[], "deadline_passed", &msg)
        }
        _ => return None,
    })
}

/// Returns an example of a 422 answer: a query parameter beyond its maximum, else an invalid id, else the fault of a
/// body, else an unknown parameter.
fn fault_example(operation: &path::Operation, rules: &Operation) -> Value {
    let parameters = || {
        let parameters = operation.parameters.as_deref().unwrap_or_default().iter();
        parameters.filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        })
    };
    let maximum = |parameter: &Parameter| match &parameter.schema {
        Some(RefOr::T(Schema::Object(schema))) if parameter.parameter_in == ParameterIn::Query => {
            schema.maximum.clone()
        }
        _ => None,
    };
    let limited = parameters().find_map(|parameter| Some((parameter, maximum(parameter)?)));
    let id = parameters().rfind(|parameter| parameter.parameter_in == ParameterIn::Path);
    if let Some((parameter, maximum)) = limited {
        let msg = format!("Input should be less than or equal to {}", json!(maximum));
        fault(&["query", &parameter.name], "less_than_equal", &msg)
    } else if let Some(id) = id {
        let msg = r"String should match pattern '^\w+$'";
        fault(&["path", &id.name], "string_pattern_mismatch", msg)
    } else {
        match rules.fault {
            Some(FaultExample::Missing(field)) => fault(&["body", field], "missing", "Field required"),
            Some(FaultExample::Above(field, most)) => {
                let msg = format!("Input should be less than or equal to {most}");
                fault(&["body", field], "less_than_equal", &msg)
            }
            Some(FaultExample::NotPositive(field)) => {
                fault(&["body", field], "greater_than", "Input should be greater than 0")
            }
            None => fault(&["query", "limit"], "extra_forbidden", "Extra inputs are not permitted"),
        }
    }
}

fn fault(loc: &[&str], kind: &str, msg: &str) -> Value {
    json!({ "detail": [{ "loc": loc, "msg": msg, "type": kind }] })
}

/// Adds to a parameter what the attribute of an operation cannot express.
fn describe(path: &str, parameter: &mut Parameter) {
    let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema else { return };
    match parameter.name.as_str() {
        "limit" => {
            let usual = match path {
                "/generator/v1/samples" => 5,
                _ if path.starts_with("/generator") => 25,
                _ => 10,
            };
            schema.default = Some(json!(usual));
        }
        "samples" => schema.default = Some(json!(100)),
        "format" => {
            schema.schema_type = Type::String.into();
            schema.enum_values = Some(ExportFormat::ALL.map(|format| json!(format.name())).into());
        }
        "view" => {
            schema.schema_type = Type::String.into();
            schema.enum_values = Some(vec![json!("full"), json!("compact")]);
            schema.default = Some(json!("full"));
        }
        "prefer" | "last-event-id" => parameter.required = Required::False,
        "accept-encoding" => {
            parameter.required = Required::False;
            schema.default = Some(json!("*"));
        }
        "next-page" | "prev-page" | "starting_after" | "ending_before" => {
            schema.schema_type = SchemaType::from_iter([Type::String, Type::Null]);
        }
        _ => {}
    }
    let example = match parameter.name.as_str() {
        "sample_id" => "smp_01jd6xq1v3m4c5t6y7z8a9b0cd",
        "plan_id" => "pln_01jd6xq1v3m4c5t6y7z8a9b0cd",
        "route_id" => "rte_01jd6xq1v3m4c5t6y7z8a9b0cd",
        "batch_id" if path.starts_with("/generator") => "sbt_01jd6xq1v3m4c5t6y7z8a9b0cd",
        "batch_id" => "bat_01jd6xq1v3m4c5t6y7z8a9b0cd",
        "search_id" | "job_id" => JOB_ID,
        "engine" => "uspto_retro",
        "queue" => "search",
        "model_id" => "druglike_gru",
        _ => return,
    };
    schema.example = Some(json!(example));
}

#[cfg(test)]
mod tests {
    use contract::{ErrorBody, scope};

    use super::*;

    #[test]
    fn every_example_of_an_error_is_the_body_of_one() {
        let rules = Operation::short(Some(scope::SAMPLES_READ));
        for status in ["401", "403", "408", "409", "413", "415", "429", "500", "503", "504"] {
            let example = error_example(status, &rules).unwrap();

            let body: ErrorBody = serde_json::from_value(example).unwrap();

            assert_eq!(body.detail.len(), 1, "{status}");
        }
        assert_eq!(error_example("400", &rules), None);
    }
}
