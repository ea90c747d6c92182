//! OpenAPI 3.1 document, generated from the types and the operations.
//!
//! A table adds what all operations share (security, error statuses), so that no operation can omit it.

use axum::{
    body::Bytes,
    extract::State,
    http::header,
    response::{IntoResponse, Response as Answer},
};
use contract::{
    ErrorBody, ErrorItem, FoundRoute, Location, SampleList, SearchProgress, StreamProblem, scope,
};
use serde_json::json;
use utoipa::{
    OpenApi,
    openapi::{
        ContentBuilder, HeaderBuilder, ObjectBuilder, OpenApi as Document, Ref, RefOr, Required, Response,
        ResponseBuilder, Schema, Type,
        extensions::Extensions,
        path::{Operation, Parameter},
        schema::{AdditionalProperties, ArrayItems, SchemaType},
        security::{
            AuthorizationCode, Flow, HttpAuthScheme, HttpBuilder, Implicit, OAuth2, Scopes,
            SecurityRequirement, SecurityScheme,
        },
    },
};

use crate::{
    endpoints::{
        self, MAX_ID, bulk_queries::MAX_MOLECULE, checked_route::MAX_LENGTH, treesearch::MAX_TARGET,
    },
    examples,
};

#[derive(OpenApi)]
#[openapi(
    info(title = "Retort", description = "Molecule sampling and retrosynthesis tree search. Experimental."),
    paths(
        endpoints::samples::list,
        endpoints::samples::create,
        endpoints::samples::retrieve,
        endpoints::samples::delete,
        endpoints::generate::generate,
        endpoints::generate::generate_by_model,
        endpoints::sample_batches::create,
        endpoints::sample_batches::list,
        endpoints::sample_batches::retrieve,
        endpoints::sample_batches::samples,
        endpoints::sample_batches::cancel,
        endpoints::sample_batches::delete,
        endpoints::models::list,
        endpoints::models::retrieve,
        endpoints::models::status,
        endpoints::models::version,
        endpoints::treesearch::create,
        endpoints::treesearch::events::watch,
        endpoints::treesearch::create_by_engine,
        endpoints::bulk_queries::expansions,
        endpoints::bulk_queries::building_blocks,
        endpoints::bulk_queries::search,
        endpoints::bulk_queries::analogues,
        endpoints::bulk_queries::synthesizability,
        endpoints::kept_routes::create,
        endpoints::kept_routes::list,
        endpoints::kept_routes::retrieve,
        endpoints::kept_routes::update,
        endpoints::kept_routes::delete,
        endpoints::plans::create,
        endpoints::plans::list,
        endpoints::plans::retrieve,
        endpoints::plans::events::watch,
        endpoints::plans::cancel,
        endpoints::plans::delete,
        endpoints::batches::create,
        endpoints::batches::list,
        endpoints::batches::retrieve,
        endpoints::batches::plans,
        endpoints::batches::retrieve_plan,
        endpoints::batches::cancel,
        endpoints::batches::resume,
        endpoints::batches::delete,
        endpoints::engines::version,
        endpoints::engines::list,
        endpoints::engines::libraries,
        endpoints::operations::state,
        endpoints::operations::pause,
        endpoints::operations::resume,
        endpoints::operations::cancel,
        endpoints::operations::retry,
    ),
    components(schemas(ErrorBody, ErrorItem, FoundRoute, Location, SampleList, SearchProgress, StreamProblem)),
    tags(
        (name = "samples", description = "Samples of generated molecules."),
        (name = "models", description = "Generative models; an extension."),
        (name = "tree search", description = "Synthesis routes to a target molecule."),
        (name = "looks", description = "What is told of up to a thousand molecules in one call, and of the catalogue; an extension."),
        (name = "routes", description = "Routes that somebody keeps; an extension."),
        (name = "plans", description = "Tree searches that nobody waits for; an extension."),
        (name = "operations", description = "What the installation does, for operators; an extension."),
    ),
)]
struct Api;

/// Returns the document without the address of an installation.
#[must_use]
pub fn document() -> Document {
    let mut document = Api::openapi();
    add_security(&mut document, "");
    remove_integer_formats(&mut document);
    bound_texts(&mut document);
    add_engine(&mut document);
    add_search_modes(&mut document);
    for (path, item) in &mut document.paths.paths {
        for operation in
            [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten()
        {
            complete(path, operation);
        }
    }
    document
}

/// Serialised document with the address and limit of this installation.
#[derive(Debug, Clone)]
pub struct ServedDocument(Bytes);

impl ServedDocument {
    /// Builds the document of an installation at `public_url` whose searches last at most `longest_search` seconds.
    pub fn new(public_url: &str, longest_search: f64) -> Result<Self, serde_json::Error> {
        let mut document = document();
        document.servers = Some(vec![utoipa::openapi::Server::new(public_url)]);
        add_security(&mut document, public_url);
        let mut document = serde_json::to_value(document)?;
        for schema in ["TreeSearchRequest", "PlanParameters", "BatchParameters"] {
            let limit = format!("/components/schemas/{schema}/properties/max_seconds/maximum");
            if let Some(maximum) = document.pointer_mut(&limit) {
                *maximum = json!(longest_search);
            }
        }
        Ok(Self(document.to_string().into()))
    }
}

/// `GET /openapi.json`.
pub async fn serve(State(ServedDocument(document)): State<ServedDocument>) -> Answer {
    ([(header::CONTENT_TYPE, "application/json")], document).into_response()
}

/// Removes the integer format from upper bounds: they may be any number, larger than our type too.
fn remove_integer_formats(document: &mut Document) {
    let request = document.components.as_mut().and_then(|parts| parts.schemas.get_mut("TreeSearchRequest"));
    let Some(RefOr::T(Schema::Object(request))) = request else { return };
    for name in ["max_backbone_groups", "max_backbone_group_size", "max_steps"] {
        if let Some(RefOr::T(Schema::Object(property))) = request.properties.get_mut(name) {
            property.format = None;
        }
    }
}

/// Adds bounds to the texts of requests: no NUL, which the database cannot store, and a maximum length.
fn bound_texts(document: &mut Document) {
    let Some(components) = &mut document.components else { return };
    for (name, schema) in &mut components.schemas {
        if let RefOr::T(Schema::Object(schema)) = schema
            && (name.ends_with("Request") || name == "OwnBlock")
        {
            schema
                .properties
                .iter_mut()
                .for_each(|(field, schema)| bound_text(schema, max_text_length(name, field)));
        }
    }
    // Bounds for results that a client sends back, as `exactly` parses them.
    let mut names = vec!["RouteGraph".to_owned(), "PricingAnnotation".to_owned()];
    let mut at = 0;
    while let Some(name) = names.get(at).cloned() {
        at += 1;
        if let Some(schema) = components.schemas.get_mut(&name) {
            bound_answered(schema, &mut names);
        }
    }
}

/// Returns the maximum length of a text in the field of a request, or in its list, in characters.
fn max_text_length(request: &str, field: &str) -> usize {
    match (request, field) {
        ("BatchRequest", "smiles") => MAX_TARGET,
        (_, "smiles") => MAX_MOLECULE,
        ("CatalogueRequest", _) => MAX_TARGET,
        _ if field.starts_with("vendors_") || field.starts_with("reaction_classes_") => MAX_ID,
        (_, "templates_never" | "names" | "model_id" | "engine") => MAX_ID,
        _ => MAX_TARGET,
    }
}

fn bound_text(schema: &mut RefOr<Schema>, most: usize) {
    match schema {
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                bound_text(items, most);
            }
        }
        RefOr::T(Schema::Object(text)) if is_text(&text.schema_type) => {
            text.pattern.get_or_insert_with(|| r"^[^\x00]*$".to_owned());
            text.max_length.get_or_insert(most);
        }
        _ => {}
    }
}

/// Adds missing bounds, and collects the names of the schemas inside.
fn bound_answered(schema: &mut RefOr<Schema>, names: &mut Vec<String>) {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default().to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        RefOr::T(Schema::Array(array)) => {
            array.max_items.get_or_insert(MAX_LENGTH);
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                bound_answered(items, names);
            }
        }
        RefOr::T(Schema::Object(object)) => {
            if is_text(&object.schema_type) && object.enum_values.is_none() && object.format.is_none() {
                object.max_length.get_or_insert(MAX_LENGTH);
            }
            object.properties.values_mut().for_each(|property| bound_answered(property, names));
            if let Some(AdditionalProperties::RefOr(others)) = object.additional_properties.as_deref_mut() {
                bound_answered(others, names);
            }
        }
        RefOr::T(Schema::OneOf(one)) => one.items.iter_mut().for_each(|item| bound_answered(item, names)),
        RefOr::T(Schema::AllOf(all)) => all.items.iter_mut().for_each(|item| bound_answered(item, names)),
        RefOr::T(Schema::AnyOf(any)) => any.items.iter_mut().for_each(|item| bound_answered(item, names)),
        RefOr::T(_) => {}
    }
}

fn is_text(schema_type: &SchemaType) -> bool {
    match schema_type {
        SchemaType::Type(only) => *only == Type::String,
        SchemaType::Array(types) => types.contains(&Type::String),
        SchemaType::AnyValue => false,
    }
}

/// Adds `engine` to the parameters of plans and batches. They are a tree search request with an engine, for batches
/// without a target. Flattening would produce two schemas that both must hold, and each would reject the fields of
/// the other.
fn add_engine(document: &mut Document) {
    let Some(components) = document.components.as_mut() else { return };
    let Some(RefOr::T(Schema::Object(request))) = components.schemas.get("TreeSearchRequest").cloned() else {
        return;
    };
    let engine = ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some(r"^\w+$"))
        .description(Some(
            "The engine, one of those that live searchers serve; by default the first of them.",
        ));
    let mut parameters = request;
    parameters.properties.insert("engine".to_owned(), RefOr::T(engine.build().into()));
    let mut of_batch = parameters.clone();
    of_batch.properties.remove("search_smiles");
    of_batch.required.retain(|name| name != "search_smiles");
    for (name, schema) in [("PlanParameters", parameters), ("BatchParameters", of_batch)] {
        components.schemas.insert(name.to_owned(), RefOr::T(schema.into()));
    }
}

/// Declares that a catalogue query uses exactly one search mode.
fn add_search_modes(document: &mut Document) {
    let request = document.components.as_mut().and_then(|parts| parts.schemas.get_mut("CatalogueRequest"));
    let Some(RefOr::T(Schema::Object(request))) = request else { return };
    let ways = ["smiles", "similar_to", "substructure", "text"].map(|way| json!({ "required": [way] }));
    // Keywords without a field of their own go into the extensions.
    request.extensions = Some(Extensions::from_iter([("oneOf", json!(ways))]));
}

fn add_security(document: &mut Document, base: &str) {
    let scopes = || Scopes::from_iter(scope::ALL);
    let authorize = format!("{base}/auth/authorize");
    let components = document.components.get_or_insert_default();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT")
        .description(Some("An access token, as `retort token` prints it."));
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer.build()));
    components.add_security_scheme(
        "oauth2_implicit",
        SecurityScheme::OAuth2(OAuth2::with_description(
            [Flow::Implicit(Implicit::new(&authorize, scopes()))],
            "Implicit flow of the sampling API, for applications that the operator registered for it.",
        )),
    );
    components.add_security_scheme(
        "oauth2_code",
        SecurityScheme::OAuth2(OAuth2::with_description(
            [Flow::AuthorizationCode(AuthorizationCode::new(
                &authorize,
                format!("{base}/auth/token"),
                scopes(),
            ))],
            "Authorization code flow of the tree search API; PKCE with S256 is required.",
        )),
    );
}

/// Adds to `operation` the parts that operations of its kind share.
fn complete(path: &str, operation: &mut Operation) {
    let takes_body = operation.request_body.is_some();
    let is_search = path.starts_with("/synth");
    let is_operators = path.starts_with("/operations");
    let needed: &[&str] = match operation.operation_id.as_deref() {
        Some("create_sample" | "create_sample_batch" | "generate" | "generate_by_model") => {
            &[scope::SAMPLES_CREATE]
        }
        Some("delete_sample" | "cancel_sample_batch" | "delete_sample_batch") => &[scope::SAMPLES_DELETE],
        Some("list_models" | "retrieve_model" | "retrieve_model_status" | "version_of_generator") => {
            &[scope::MODELS_READ]
        }
        Some(
            "create_tree_search" | "create_engine_tree_search" | "watch_tree_search" | "version_of_plans",
        ) => &[],
        Some("create_plan" | "create_batch" | "resume_batch") => &[scope::PLANS_CREATE],
        Some("cancel_plan" | "delete_plan" | "cancel_batch" | "delete_batch") => &[scope::PLANS_DELETE],
        Some("create_route") => &[scope::ROUTES_CREATE],
        Some("update_route") => &[scope::ROUTES_UPDATE],
        Some("delete_route") => &[scope::ROUTES_DELETE],
        _ if is_operators => &[scope::OPERATIONS],
        _ if path.starts_with("/synth-batches") => &[scope::PLANS_READ],
        _ if path.starts_with("/synth/v1/routes") => &[scope::ROUTES_READ],
        _ if is_search => &[scope::QUERIES_CREATE],
        _ => &[scope::SAMPLES_READ],
    };
    let flow = if is_search || is_operators { "oauth2_code" } else { "oauth2_implicit" };
    operation.security = Some(vec![
        SecurityRequirement::new("bearer", needed.iter().copied()),
        SecurityRequirement::new(flow, needed.iter().copied()),
    ]);

    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter {
            describe(path, parameter);
        }
    }

    let id = operation.operation_id.clone().unwrap_or_default();
    let example = examples::answer(&id);
    for status in ["200", "201", "202"] {
        let example = if status == "202" { examples::pending(&id) } else { example.clone() };
        if let Some(RefOr::T(answer)) = operation.responses.responses.get_mut(status)
            && let Some(RefOr::T(content)) = answer.content.get_mut("application/json")
        {
            content.example = example;
        }
    }

    let mut add = |status: &str, mut response: Response| {
        if let Some(RefOr::T(content)) = response.content.get_mut("application/json") {
            content.example = examples::error(&id, status, &needed.join(" "));
        }
        operation.responses.responses.insert(status.to_owned(), RefOr::T(response));
    };
    if path.contains("{batch_id}") {
        let what = if is_search { "No batch, or no plan of it," } else { "No sample batch" };
        add("404", null(&format!("{what} that the caller can see has this id.")));
        if id == "list_samples_of_batch" {
            add(
                "400",
                null("The request names a chunk that the batch does not have, or contradicts itself."),
            );
        } else if id.contains("list_plans") {
            add("400", null("The request names a plan that the batch does not have, or contradicts itself."));
        }
    } else if path.contains("{plan_id}") {
        add("404", null("No plan that the caller can see has this id."));
        if id == "delete_plan" {
            add("409", fault("The plan belongs to a batch, with which it is deleted."));
        }
    } else if path.contains("{route_id}") {
        add("404", null("No kept route that the caller can see has this id."));
    } else if path.contains("{search_id}") {
        add("404", null("No stream of a search that the caller asked for has this id, or no longer."));
    } else if path.contains("{engine}") {
        add("404", null("No live searcher serves an engine of this name."));
    } else if path.ends_with("{sample_id}") {
        add("404", null("No sample that the caller can see has this id."));
        if id == "delete_sample" {
            add("409", fault("The sample belongs to a batch, with which it is deleted."));
        }
    } else if id == "retrieve_model_status" {
        add("404", null("No sampler has had a model of this id within the last day."));
    } else if path.contains("{model_id}") {
        add("404", null("No live sampler has a model of this id."));
    } else if path.contains("{queue}") {
        add("404", null("There is no queue of this name."));
    } else if path.contains("{job_id}") {
        add("404", null("There is no job of this id, or no longer."));
        add("409", fault("The job stands so that this cannot be done to it."));
    } else {
        add("400", null("The request names something that is not there, or contradicts itself."));
    }
    add("401", with_header(fault("No access token, or not a valid one."), "WWW-Authenticate"));
    if !needed.is_empty() {
        let or_of_another = match id.as_str() {
            "delete_sample" => ", or another account made the sample",
            "cancel_sample_batch"
            | "delete_sample_batch"
            | "cancel_batch"
            | "resume_batch"
            | "delete_batch" => ", or another account asked for the batch",
            "cancel_plan" | "delete_plan" => ", or another account asked for the plan",
            "update_route" | "delete_route" => ", or another account keeps the route",
            _ => "",
        };
        let lacks = fault(&format!("The access token lacks the scope{or_of_another}."));
        add("403", with_header(lacks, "WWW-Authenticate"));
    }
    if id == "create_route" {
        add(
            "409",
            fault("The account keeps or stores as much as it may, or a request with its key is in hand."),
        );
    }
    if let "create_plan" | "create_batch" | "create_sample" | "create_sample_batch" = &*id {
        add(
            "409",
            fault(
                "So much of the account waits or is stored that this is too much, or a request with its key is in hand.",
            ),
        );
    }
    if id == "resume_batch" {
        add("409", fault("So many targets of the account wait that these are too many."));
    }
    add("422", fault("The request does not fit the schema; every fault is listed."));
    add(
        "429",
        with_header(
            fault("The rate limit of the account is spent, or it has too many requests in flight."),
            "Retry-After",
        ),
    );
    add("500", fault("The answer does not fit the response schema, or an internal failure."));
    add("503", with_header(fault("Busy, or a part of the service is away."), "Retry-After"));
    if takes_body {
        add("408", fault("The body took too long to arrive."));
        let most = match id.as_str() {
            "create_batch" => 5,
            "create_route" => 2,
            _ => 1,
        };
        add("413", fault(&format!("The body is larger than {most} MiB.")));
        add("415", fault("The body is not JSON."));
    }
    if takes_body || id.starts_with("generate") {
        add("504", fault("The deadline passed; the job's id is in the message."));
    }
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
        "prefer" => parameter.required = Required::False,
        "accept-encoding" => {
            parameter.required = Required::False;
            schema.default = Some(json!("*"));
        }
        "sample_id" => schema.example = Some(json!(examples::SAMPLE_ID)),
        "plan_id" => schema.example = Some(json!(examples::PLAN_ID)),
        "route_id" => schema.example = Some(json!(examples::ROUTE_ID)),
        "batch_id" if path.starts_with("/generator") => {
            schema.example = Some(json!(examples::SAMPLE_BATCH_ID));
        }
        "batch_id" => schema.example = Some(json!(examples::BATCH_ID)),
        "search_id" => schema.example = Some(json!(examples::JOB_ID)),
        "last-event-id" => parameter.required = Required::False,
        "engine" => schema.example = Some(json!(examples::ENGINE)),
        "queue" => schema.example = Some(json!("search")),
        "job_id" => schema.example = Some(json!(examples::JOB_ID)),
        "model_id" => schema.example = Some(json!(examples::MODEL_ID)),
        "next-page" | "prev-page" | "starting_after" | "ending_before" => {
            schema.schema_type = SchemaType::from_iter([Type::String, Type::Null]);
        }
        _ => {}
    }
}

fn fault(description: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody")));
    ResponseBuilder::new().description(description).content("application/json", content.build()).build()
}

fn null(description: &str) -> Response {
    let schema = ObjectBuilder::new().schema_type(Type::Null).build();
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new().description(description).content("application/json", content).build()
}

fn with_header(mut response: Response, name: &str) -> Response {
    let schema = ObjectBuilder::new().schema_type(Type::String).build();
    response.headers.insert(name.to_owned(), RefOr::T(HeaderBuilder::new().schema(Some(schema)).build()));
    response
}
