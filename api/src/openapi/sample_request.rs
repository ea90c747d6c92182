//! Schemas of the requests for samples and for sample batches.

use chem::{AlertSet, Property};
use serde_json::{Value, json};
use utoipa::openapi::{
    Object, OpenApi as Document, Ref, RefOr, Schema,
    schema::{AdditionalProperties, ArrayItems},
};

/// Requests with conditions.
const REQUESTS: [&str; 2] = ["SampleRequest", "SampleBatchRequest"];

/// Joins the conditions with the other fields of each request, and lists the names of properties and alerts.
/// Flattening makes two schemas that both must hold, and each would reject the fields of the other.
pub(super) fn complete(document: &mut Document) {
    let Some(components) = document.components.as_mut() else { return };
    let Some(RefOr::T(Schema::Object(mut conditions))) = components.schemas.remove("SampleConditions") else {
        return;
    };
    complete_items(&mut conditions);
    for name in REQUESTS {
        let Some(RefOr::T(Schema::AllOf(parts))) = components.schemas.get(name) else { continue };
        let own = parts.items.iter().find_map(|part| match part {
            RefOr::T(Schema::Object(own)) => Some(own.clone()),
            _ => None,
        });
        let mut request = own.expect("openapi: a request has fields of its own");
        request.description.clone_from(&parts.description);
        request.properties.extend(conditions.properties.clone());
        request.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        components.schemas.insert(name.to_owned(), RefOr::T(request.into()));
    }
}

/// Lists the properties that may have a range and the sets of alerts, and bounds the ids of samples.
fn complete_items(conditions: &mut Object) {
    if let Some(RefOr::T(Schema::Object(ranges))) = conditions.properties.get_mut("properties") {
        let range = || RefOr::Ref(Ref::from_schema_name("PropertyRange"));
        ranges.properties.extend(Property::ALL.iter().map(|property| (property.name().to_owned(), range())));
        ranges.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
    }
    if let Some(RefOr::T(Schema::Array(alerts))) = conditions.properties.get_mut("alerts")
        && let ArrayItems::RefOrSchema(items) = &mut alerts.items
        && let RefOr::T(Schema::Object(name)) = items.as_mut()
    {
        let names: Vec<Value> = AlertSet::ALL.iter().map(|set| json!(set.name())).collect();
        alerts.max_items = Some(names.len());
        name.enum_values = Some(names);
    }
    if let Some(RefOr::T(Schema::Array(ids))) = conditions.properties.get_mut("exclude")
        && let ArrayItems::RefOrSchema(items) = &mut ids.items
        && let RefOr::T(Schema::Object(id)) = items.as_mut()
    {
        id.min_length = Some(1);
        id.pattern = Some(r"^\w+$".to_owned());
    }
}
