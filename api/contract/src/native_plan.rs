//! Schema of plans whose results have the tree search's own shape.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, OneOfBuilder, RefOr, Schema, Type, schema::RefBuilder},
};

use crate::{Plan, TreeSearchResult};

/// Schema of a [`Plan`] whose result has the tree search's own shape.
#[derive(Debug)]
pub struct NativePlan;

impl PartialSchema for NativePlan {
    fn schema() -> RefOr<Schema> {
        let mut schema = Plan::schema();
        if let RefOr::T(Schema::Object(plan)) = &mut schema {
            let result = RefBuilder::new()
                .ref_location_from_schema_name(TreeSearchResult::name())
                .description(Some("Result of the search, once completed; null in lists."));
            let null = ObjectBuilder::new().schema_type(Type::Null);
            let result = OneOfBuilder::new().item(result).item(null);
            plan.properties.insert("result".to_owned(), RefOr::T(result.build().into()));
            plan.description = Some(
                "An asynchronous tree search, with its result as the tree search answers it.".to_owned(),
            );
        }
        schema
    }
}

impl ToSchema for NativePlan {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((TreeSearchResult::name().into(), TreeSearchResult::schema()));
        TreeSearchResult::schemas(schemas);
        Plan::schemas(schemas);
    }
}
