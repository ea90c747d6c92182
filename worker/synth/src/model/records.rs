//! Recorded reactions of a template: their number, patents and conditions.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use reactivity::{ComponentRole, ReactionClass, StepConditions};
use rustc_hash::FxHashMap;

use crate::model::error::ModelError;

/// Recorded reactions of a template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedReactions {
    /// Number of recorded reactions.
    pub reactions: u32,
    /// Numbers of up to three patents, the oldest first.
    pub patents: Vec<String>,
    /// Commonest agents by name, each with the number of reactions that used it; the commonest first.
    pub agents: Vec<(ComponentRole, Arc<str>, u32)>,
}

impl RecordedReactions {
    /// Conditions of a step of this class, each with the number of recorded reactions that used it.
    ///
    /// Agents of the work-up are left out. An agent that the class needs, and that neither the records nor the
    /// `precursors` (canonical SMILES) have, is added as textbooks give it, with the number 0.
    #[must_use]
    pub fn conditions<'a>(
        &'a self,
        class: ReactionClass,
        precursors: &[&str],
    ) -> Vec<(ComponentRole, &'a str, u32)> {
        let of_step = StepConditions::of(class, precursors);
        let kept = self.agents.iter().filter(|(_, name, _)| !of_step.leaves_out(name));
        let mut conditions: Vec<_> = kept.map(|(role, name, count)| (*role, &**name, *count)).collect();
        let recorded: Vec<_> = conditions.iter().map(|&(role, name, _)| (role, name)).collect();
        let missing = of_step.missing(&recorded);
        conditions.extend(missing.into_iter().map(|(role, name)| (role, name, 0)));
        conditions
    }
}

/// Records of all templates that have some, by row.
#[derive(Debug, Default)]
pub struct RecordedReactionsByTemplate(FxHashMap<u32, Arc<RecordedReactions>>);

impl RecordedReactionsByTemplate {
    /// Loads `agents.tsv` (`smiles role name` with a header) and `evidence.tsv.gz`. The latter is TAB-separated
    /// without a header: row of the template, number of its reactions, patents separated by commas, and `row of
    /// agents.tsv:count` separated by commas.
    ///
    /// # Errors
    /// Fails when a file cannot be read or a line is broken; the error names the line.
    pub fn load(folder: &Path, templates: usize) -> Result<Self, ModelError> {
        let open = |path: &Path| {
            File::open(path).map_err(|source| ModelError::Unreadable { path: path.to_owned(), source })
        };
        let (agents, evidence) = (folder.join("agents.tsv"), folder.join("evidence.tsv.gz"));
        let agents = read_agents(open(&agents)?, &agents)?;
        Self::read(MultiGzDecoder::new(open(&evidence)?), &evidence, &agents, templates)
    }

    /// Reads the uncompressed records at `path`.
    pub(crate) fn read(
        evidence: impl Read,
        path: &Path,
        agents: &[Agent],
        templates: usize,
    ) -> Result<Self, ModelError> {
        let mut records = FxHashMap::default();
        for (line, fields) in rows(evidence, path, false)? {
            let fault =
                |fault: &str| ModelError::Row { path: path.to_owned(), line, fault: fault.to_owned() };
            let template: u32 =
                fields[0].parse().map_err(|_| fault("does not begin with a template's row"))?;
            if template as usize >= templates {
                return Err(fault("is about a template that the model does not have"));
            }
            let agents = list(&fields[3])
                .map(|agent| {
                    let (row, count) = agent.split_once(':')?;
                    let (role, name) = agents.get(row.parse::<usize>().ok()?)?;
                    Some((*role, Arc::clone(name), count.parse().ok()?))
                })
                .collect::<Option<_>>()
                .ok_or_else(|| fault("names an agent that is none"))?;
            let reactions =
                fields[1].parse().map_err(|_| fault("does not say how many reactions there are"))?;
            let patents = list(&fields[2]).map(str::to_owned).collect();
            records.insert(template, Arc::new(RecordedReactions { reactions, patents, agents }));
        }
        Ok(Self(records))
    }

    /// Records of a template, if there are any.
    pub fn of(&self, template: u32) -> Option<&Arc<RecordedReactions>> {
        self.0.get(&template)
    }
}

fn list(field: &str) -> impl Iterator<Item = &str> {
    field.split(',').filter(|item| !item.is_empty())
}

/// Agent with its role and name.
pub(crate) type Agent = (ComponentRole, Arc<str>);

/// Reads the table at `path`.
pub(crate) fn read_agents(table: impl Read, path: &Path) -> Result<Vec<Agent>, ModelError> {
    let agent = |(line, fields): (u64, csv::StringRecord)| {
        let role = match &fields[1] {
            "reagent" => ComponentRole::Reagent,
            "catalyst" => ComponentRole::Catalyst,
            "solvent" => ComponentRole::Solvent,
            other => {
                let fault = format!("`{other}` is not a role: reagent, catalyst or solvent");
                return Err(ModelError::Row { path: path.to_owned(), line, fault });
            }
        };
        Ok((role, Arc::from(&fields[2])))
    };
    rows(table, path, true)?.into_iter().map(agent).collect()
}

/// Reads the lines of a TAB-separated file with their numbers. All lines must have as many fields as the first.
fn rows(source: impl Read, path: &Path, headed: bool) -> Result<Vec<(u64, csv::StringRecord)>, ModelError> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(b'\t').quoting(false).has_headers(headed).from_reader(source);
    let width = if headed { 3 } else { 4 };
    let mut rows = Vec::new();
    for record in reader.records() {
        let line = rows.len() as u64 + 1 + u64::from(headed);
        let fault = |fault: String| ModelError::Row { path: path.to_owned(), line, fault };
        let record = record.map_err(|error| fault(error.to_string()))?;
        if record.len() != width {
            return Err(fault(format!("has {} fields, expected {width}", record.len())));
        }
        rows.push((line, record));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn loaded(evidence: &str) -> Result<RecordedReactionsByTemplate, ModelError> {
        let folder = tempfile::tempdir().unwrap();
        let agents = "smiles\trole\tname\nO\tsolvent\twater\n[Pd]\tcatalyst\tpalladium\n";
        fs::write(folder.path().join("agents.tsv"), agents).unwrap();
        let file = File::create(folder.path().join("evidence.tsv.gz")).unwrap();
        let mut packed = GzEncoder::new(file, Compression::fast());
        packed.write_all(evidence.as_bytes()).unwrap();
        packed.finish().unwrap();
        RecordedReactionsByTemplate::load(folder.path(), 10)
    }

    #[test]
    fn records_are_read_by_template() {
        let all = loaded("3\t7\tUS1,US2\t1:5,0:2\n4\t1\t\t\n").unwrap();

        let expected = RecordedReactions {
            reactions: 7,
            patents: vec!["US1".to_owned(), "US2".to_owned()],
            agents: vec![
                (ComponentRole::Catalyst, Arc::from("palladium"), 5),
                (ComponentRole::Solvent, Arc::from("water"), 2),
            ],
        };
        assert_eq!(all.of(3).map(|records| &**records), Some(&expected));
        assert_eq!(all.of(4).map(|records| records.reactions), Some(1));
        assert!(all.of(5).is_none());
    }

    #[test]
    fn a_step_has_the_agents_that_its_reaction_needs_and_none_of_its_work_up() {
        let agent = |role, name: &str, count| (role, Arc::from(name), count);
        let records = RecordedReactions {
            agents: vec![
                agent(ComponentRole::Reagent, "hydrogen chloride", 4),
                agent(ComponentRole::Solvent, "water", 7),
                agent(ComponentRole::Solvent, "1,2-dichloroethane", 5),
            ],
            ..RecordedReactions::default()
        };
        let acylation = ReactionClass::named("Friedel-Crafts acylation").unwrap();

        let conditions = records.conditions(acylation, &[]);

        let expected = [
            (ComponentRole::Solvent, "1,2-dichloroethane", 5),
            (ComponentRole::Reagent, "aluminium chloride", 0),
        ];
        assert_eq!(conditions, expected);
    }

    #[test]
    fn a_step_without_records_has_the_conditions_of_textbooks() {
        let coupling = ReactionClass::named("Suzuki coupling").unwrap();

        let none = RecordedReactions::default();
        let conditions = none.conditions(coupling, &[]);

        let expected = [
            (ComponentRole::Catalyst, "Pd(PPh3)4", 0),
            (ComponentRole::Reagent, "carbonate", 0),
            (ComponentRole::Solvent, "1,4-dioxane", 0),
        ];
        assert_eq!(conditions, expected);
    }

    #[test]
    fn a_broken_line_is_named() {
        let broken = ["3\t7\t\n", "x\t7\t\t\n", "10\t7\t\t\n", "3\tmany\t\t\n", "3\t7\t\t9:1\n"];
        for line in broken {
            let error = loaded(&format!("1\t1\t\t\n{line}")).unwrap_err().to_string();

            assert!(error.contains("line 2"), "{error}");
        }
    }
}
