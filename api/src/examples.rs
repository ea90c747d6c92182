//! Examples of answers for the OpenAPI document, one JSON file each in `examples/`.

use serde_json::Value;

/// Reads the example in the file `api/src/examples/$name.json`.
macro_rules! example {
    ($name:literal) => {
        $crate::examples::parsed(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/examples/",
            $name,
            ".json"
        )))
    };
}
pub(crate) use example;

/// Parses the text of an example.
pub(crate) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("examples: the files are JSON")
}

#[cfg(test)]
mod tests {
    use contract::{
        Analogue, Batch, BulkQueryResult, CatalogueSearchResult, ExpandedMolecule, Generated, KeptRoute,
        Likelihoods, Model, ModelList, ModelStatus, MoleculeAvailability, OperationsState, Page, Sample,
        SampleList, Synthesizability, TreeSearchResult,
    };
    use serde::{Serialize, de::DeserializeOwned};

    use super::*;

    /// Asserts that the example deserialises as `T` and serialises back to itself.
    #[track_caller]
    fn assert_is<T: Serialize + DeserializeOwned>(example: Value) {
        let value: T = serde_json::from_value(example.clone()).unwrap();

        assert_eq!(serde_json::to_value(value).unwrap(), example);
    }

    #[test]
    fn every_example_is_of_the_type_that_it_stands_for() {
        assert_is::<SampleList>(example!("sample_list"));
        assert_is::<Sample>(example!("sample"));
        assert_is::<Sample>(example!("sample_pending"));
        assert_is::<ModelList>(example!("model_list"));
        assert_is::<Model>(example!("model"));
        assert_is::<TreeSearchResult>(example!("tree_search"));
        assert_is::<KeptRoute>(example!("kept_route"));
        assert_is::<OperationsState>(example!("operations_state"));
        assert_is::<Generated>(example!("generated"));
        assert_is::<Likelihoods>(example!("likelihoods"));
        assert_is::<ModelStatus>(example!("model_status"));
        assert_is::<Batch>(example!("batch"));
        assert_is::<Batch>(example!("batch_processing"));
        assert_is::<Page<Batch>>(example!("batch_list"));
        assert_is::<BulkQueryResult<ExpandedMolecule>>(example!("expansions"));
        assert_is::<BulkQueryResult<MoleculeAvailability>>(example!("sold_blocks"));
        assert_is::<BulkQueryResult<Synthesizability>>(example!("synthesizability"));
        assert_is::<BulkQueryResult<Analogue>>(example!("analogues"));
        assert_is::<CatalogueSearchResult>(example!("found_blocks"));
    }
}
