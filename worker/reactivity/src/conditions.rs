//! Conditions that reactions need, and agents of their work-up: `tables/conditions.tsv`.
//!
//! Records of reactions list what a work-up took together with what the reaction did, and may lack what it cannot do
//! without. Those of a racemic reaction list what an asymmetric one must not have (`never`). A row names the agents of which a class needs one, by the names of the records; the first is the one that
//! textbooks give. Its sources are those of the reaction classes.

use std::collections::HashMap;
use std::sync::LazyLock;

use chem::Table;

use crate::reaction_class::ReactionClass;

/// Role of an agent in a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentRole {
    /// Reagent that takes part: bases, acids, reductants, coupling agents.
    Reagent,
    /// Catalyst: metals, ligands, phase transfer.
    Catalyst,
    /// Solvent of the reaction.
    Solvent,
}

/// Conditions of a reaction class.
#[derive(Debug, Default)]
pub struct ClassConditions {
    needs: Vec<Need>,
    work_up: Vec<&'static str>,
}

/// Need of a class for one of several agents.
#[derive(Debug)]
struct Need {
    role: ComponentRole,
    agents: Vec<&'static str>,
    /// Precursors, as canonical SMILES, any of which meets the need.
    precursors: Vec<&'static str>,
}

static CONDITIONS: LazyLock<HashMap<&'static str, ClassConditions>> =
    LazyLock::new(|| read().expect("conditions: a test reads the table"));

impl ClassConditions {
    /// Looks up the conditions of a class; empty for a class without rows.
    #[must_use]
    pub fn of(class: ReactionClass) -> &'static Self {
        static NONE: ClassConditions = ClassConditions { needs: Vec::new(), work_up: Vec::new() };
        CONDITIONS.get(class.name).unwrap_or(&NONE)
    }

    /// Returns true if an agent belongs to the work-up or to another form of the reaction.
    #[must_use]
    pub fn is_work_up(&self, agent: &str) -> bool {
        self.work_up.contains(&agent)
    }

    /// Agents that the class needs and that are not among those recorded, with their roles. A solvent is needed only if
    /// none is recorded.
    pub fn missing<'a>(
        &'a self,
        recorded: &'a [(ComponentRole, &str)],
        precursors: &'a [&str],
    ) -> impl Iterator<Item = (ComponentRole, &'static str)> + 'a {
        let is_missing = |need: &&Need| match need.role {
            ComponentRole::Solvent => !recorded.iter().any(|&(role, _)| role == ComponentRole::Solvent),
            _ => {
                !recorded.iter().any(|&(_, agent)| need.agents.contains(&agent))
                    && !precursors.iter().any(|precursor| need.precursors.contains(precursor))
            }
        };
        self.needs.iter().filter(is_missing).map(|need| (need.role, need.agents[0]))
    }
}

fn read() -> Result<HashMap<&'static str, ClassConditions>, String> {
    let table = Table {
        file: "conditions.tsv",
        text: include_str!("../tables/conditions.tsv"),
        columns: ["class", "role", "agents", "unless", "source"],
        keys: 3,
    };
    let rows = table.read(|[class, role, agents, unless, _]| {
        let class = ReactionClass::named(class).ok_or(format!("`{class}` is no reaction class"))?;
        let agents: Vec<&str> = agents.split('|').collect();
        let precursors = unless.split('|').filter(|smiles| *smiles != "-").collect();
        let role = match role {
            "reagent" => Some(ComponentRole::Reagent),
            "catalyst" => Some(ComponentRole::Catalyst),
            "solvent" => Some(ComponentRole::Solvent),
            "work-up" | "never" => None,
            other => return Err(format!("`{other}` is no role")),
        };
        Ok((class.name, role, agents, precursors))
    });
    let mut classes: HashMap<&'static str, ClassConditions> = HashMap::new();
    for (class, role, agents, precursors) in rows.map_err(|error| error.to_string())? {
        let conditions = classes.entry(class).or_default();
        match role {
            Some(role) => conditions.needs.push(Need { role, agents, precursors }),
            None => conditions.work_up.extend(agents),
        }
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str) -> &'static ClassConditions {
        ClassConditions::of(ReactionClass::named(name).unwrap())
    }

    #[test]
    fn the_table_can_be_read() {
        assert!(read().is_ok_and(|classes| classes.len() > 150));
    }

    #[test]
    fn an_agent_that_a_class_needs_is_no_agent_of_its_work_up() {
        for (name, conditions) in CONDITIONS.iter() {
            for need in &conditions.needs {
                assert!(!conditions.is_work_up(need.agents[0]), "{name}: {}", need.agents[0]);
            }
        }
    }

    #[test]
    fn needs_of_metals_reductants_and_lewis_acids_are_known() {
        use ComponentRole::{Catalyst, Reagent, Solvent};
        let cases = [
            (
                "Suzuki coupling",
                vec![(Reagent, "carbonate"), (Solvent, "toluene")],
                vec![(Catalyst, "Pd(PPh3)4")],
            ),
            ("Negishi coupling", vec![(Solvent, "THF")], vec![(Catalyst, "Pd(PPh3)4")]),
            (
                "Buchwald-Hartwig amination",
                vec![(Reagent, "carbonate"), (Solvent, "toluene")],
                vec![(Catalyst, "palladium")],
            ),
            (
                "Ullmann-Goldberg coupling",
                vec![(Reagent, "carbonate"), (Solvent, "DMF")],
                vec![(Catalyst, "copper(I) iodide")],
            ),
            (
                "Friedel-Crafts acylation",
                vec![(Solvent, "dichloromethane")],
                vec![(Reagent, "aluminium chloride")],
            ),
            (
                "Mitsunobu reaction",
                vec![(Reagent, "triphenylphosphine"), (Solvent, "THF")],
                vec![(Reagent, "DIAD")],
            ),
            ("reductive amination", vec![(Solvent, "methanol")], vec![(Reagent, "triacetoxyborohydride")]),
            (
                "hydrogenation",
                vec![(Reagent, "hydrogen"), (Solvent, "ethanol")],
                vec![(Catalyst, "palladium")],
            ),
            ("ester or acid reduction", vec![(Solvent, "THF")], vec![(Reagent, "lithium aluminium hydride")]),
            ("amide coupling", vec![(Reagent, "DIPEA"), (Solvent, "DMF")], vec![(Reagent, "EDC")]),
            ("Boc removal", vec![], vec![(Reagent, "TFA"), (Solvent, "dichloromethane")]),
            (
                "Mitsunobu reaction",
                vec![(Reagent, "triphenylphosphine"), (Reagent, "ADDP"), (Solvent, "THF")],
                vec![],
            ),
        ];
        for (name, recorded, expected) in cases {
            let missing: Vec<_> = class(name).missing(&recorded, &[]).collect();

            assert_eq!(missing, expected, "{name}");
        }
    }

    #[test]
    fn a_precursor_may_be_the_reagent() {
        let oxidation = class("sulfur oxidation");

        let reagents = |precursors: &[&str]| {
            oxidation.missing(&[(ComponentRole::Solvent, "methanol")], precursors).count()
        };

        assert_eq!((reagents(&["CSC"]), reagents(&["CSC", "OO"])), (1, 0));
    }

    #[test]
    fn quenches_are_agents_of_the_work_up() {
        let cases = [
            ("Friedel-Crafts acylation", "water", true),
            ("Friedel-Crafts acylation", "bicarbonate", true),
            ("Friedel-Crafts acylation", "dichloromethane", false),
            ("Grignard or organolithium addition", "hydrogen chloride", true),
            ("amide coupling", "water", true),
            ("carbonyl reduction", "hydrogen chloride", true),
            ("alcohol oxidation", "thiosulfate", true),
            ("Mitsunobu reaction", "water", true),
            ("ester hydrolysis", "water", false),
            ("Suzuki coupling", "water", false),
        ];
        for (name, agent, expected) in cases {
            assert_eq!(class(name).is_work_up(agent), expected, "{name}: {agent}");
        }
    }
}
