//! OpenAPI 3.1 document, generated from the types and the operations.
//!
//! [`completion`] adds what all operations share (security, error statuses), so that no operation can omit it.

mod completion;
mod sample_request;

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
        ObjectBuilder, OpenApi as Document, RefOr, Schema, Type,
        extensions::Extensions,
        schema::{AdditionalProperties, ArrayItems, SchemaType},
        security::{
            AuthorizationCode, Flow, HttpAuthScheme, HttpBuilder, Implicit, OAuth2, Scopes, SecurityScheme,
        },
    },
};

use crate::endpoints::{
    MAX_ID, bulk_queries::MAX_MOLECULE, checked_route::MAX_LENGTH, treesearch::MAX_TARGET,
};
pub use completion::complete;

#[derive(OpenApi)]
#[openapi(
    info(title = "Retort", description = "Molecule sampling and retrosynthesis tree search. Experimental."),
    components(schemas(ErrorBody, ErrorItem, FoundRoute, Location, SampleList, SearchProgress, StreamProblem)),
    tags(
        (name = "samples", description = "Samples of generated molecules."),
        (name = "models", description = "Generative models; an extension."),
        (name = "tree search", description = "Synthesis routes to a target molecule."),
        (name = "bulk queries", description = "Queries of up to a thousand molecules in one call, and of the catalogue; an extension."),
        (name = "routes", description = "Kept routes; an extension."),
        (name = "plans", description = "Tree searches in the background; an extension."),
        (name = "operations", description = "State of the installation and acts on it, for operators; an \
            extension."),
    ),
)]
struct Api;

/// Returns the document without operations.
pub fn empty() -> Document {
    Api::openapi()
}

/// Adds to the document of all operations what the types cannot express.
pub fn finished(mut document: Document) -> Document {
    add_security(&mut document, "");
    remove_integer_formats(&mut document);
    sample_request::complete(&mut document);
    bound_texts(&mut document);
    add_engine(&mut document);
    add_search_modes(&mut document);
    document
}

/// Serialised document with the address and limit of this installation.
#[derive(Debug, Clone)]
pub struct ServedDocument(Bytes);

impl ServedDocument {
    /// Makes `document` that of an installation at `public_url` whose searches last at most `longest_search` seconds.
    pub fn new(
        mut document: Document,
        public_url: &str,
        longest_search: f64,
    ) -> Result<Self, serde_json::Error> {
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
        (_, "templates_never" | "names" | "model_id" | "engine" | "exclude") => MAX_ID,
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
