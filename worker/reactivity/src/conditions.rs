//! Conditions that reactions need, and agents of their work-up: `tables/conditions.tsv`; and agents that a group of a precursor does not bear, with what chemists take instead,
//! or beside the others where it bears them all: `tables/excepted_agents.tsv`, whose groups are SMARTS that one precursor matches, or with `!` does not match, or with `~` no precursor does.
//!
//! Records of reactions list what a work-up took together with what the reaction did, and may lack what it cannot do
//! without. Those of a racemic reaction list what an asymmetric one must not have (`never`). A row names the agents of which a class needs one, by the names of the records; the first is the one that
//! textbooks give. Its sources are those of the reaction classes.

use std::collections::HashMap;
use std::sync::LazyLock;

use chem::{Molecule, Pattern, Table};

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

impl ComponentRole {
    fn named(name: &str) -> Result<Self, String> {
        match name {
            "reagent" => Ok(Self::Reagent),
            "catalyst" => Ok(Self::Catalyst),
            "solvent" => Ok(Self::Solvent),
            other => Err(format!("`{other}` is no role")),
        }
    }
}

/// Conditions of a step, by its reaction class and what its precursors bear.
#[derive(Debug)]
pub struct StepConditions<'a> {
    class: &'static ClassConditions,
    exceptions: Vec<&'static Exception>,
    precursors: &'a [&'a str],
}

/// Conditions of a reaction class.
#[derive(Debug, Default)]
struct ClassConditions {
    needs: Vec<Need>,
    work_up: Vec<&'static str>,
    exceptions: Vec<Exception>,
}

/// Need of a class for one of several agents.
#[derive(Debug)]
struct Need {
    role: ComponentRole,
    agents: Vec<&'static str>,
    /// Precursors, as canonical SMILES, any of which meets the need.
    precursors: Vec<&'static str>,
}

/// Agents that a group of a precursor does not bear, and what chemists take instead.
#[derive(Debug)]
struct Exception {
    /// Patterns that one precursor matches.
    present: Vec<Pattern>,
    /// Patterns that it does not match.
    absent: Vec<Pattern>,
    /// Patterns that no precursor matches.
    nowhere: Vec<Pattern>,
    never: Vec<&'static str>,
    role: ComponentRole,
    /// Agents of which the step then needs one.
    instead: Vec<&'static str>,
}

static CONDITIONS: LazyLock<HashMap<&'static str, ClassConditions>> =
    LazyLock::new(|| read().expect("conditions: a test reads the tables"));

impl Exception {
    fn applies_to(&self, precursors: &[Molecule]) -> bool {
        let bears = |precursor: &Molecule| {
            self.present.iter().all(|pattern| pattern.matches(precursor))
                && !self.absent.iter().any(|pattern| pattern.matches(precursor))
        };
        precursors.iter().any(bears)
            && !precursors
                .iter()
                .any(|precursor| self.nowhere.iter().any(|pattern| pattern.matches(precursor)))
    }
}

impl<'a> StepConditions<'a> {
    /// Looks up the conditions of a step of this class; `precursors` are canonical SMILES. A class without rows has none.
    #[must_use]
    pub fn of(class: ReactionClass, precursors: &'a [&'a str]) -> Self {
        static NONE: ClassConditions =
            ClassConditions { needs: Vec::new(), work_up: Vec::new(), exceptions: Vec::new() };
        let class = CONDITIONS.get(class.name).unwrap_or(&NONE);
        let molecules: Vec<Molecule> = if class.exceptions.is_empty() {
            Vec::new()
        } else {
            precursors.iter().filter_map(|smiles| Molecule::trusted(smiles).ok()).collect()
        };
        let exceptions =
            class.exceptions.iter().filter(|exception| exception.applies_to(&molecules)).collect();
        Self { class, exceptions, precursors }
    }

    /// Returns true for an agent of the work-up, of another form of the reaction, or one that a precursor does not bear.
    #[must_use]
    pub fn leaves_out(&self, agent: &str) -> bool {
        self.class.work_up.contains(&agent) || self.is_excepted(agent)
    }

    fn is_excepted(&self, agent: &str) -> bool {
        self.exceptions.iter().any(|exception| exception.never.contains(&agent))
    }

    /// Agents that the step needs and that are not among those recorded, with their roles. A solvent is needed only if
    /// none is recorded.
    #[must_use]
    pub fn missing(&self, recorded: &[(ComponentRole, &str)]) -> Vec<(ComponentRole, &'static str)> {
        let is_recorded = |agents: &[&str]| recorded.iter().any(|&(_, agent)| agents.contains(&agent));
        let is_replaced = |need: &Need| {
            let replaces = |exception: &&&Exception| {
                exception.role == need.role || need.agents.contains(&exception.instead[0])
            };
            self.exceptions.iter().filter(replaces).any(|exception| !exception.never.is_empty())
        };
        let has_solvent = recorded.iter().any(|&(role, _)| role == ComponentRole::Solvent);
        let is_met = |role: ComponentRole, agents: &[&str]| match role {
            ComponentRole::Solvent => has_solvent,
            _ => is_recorded(agents),
        };
        let is_missing = |need: &&Need| {
            !is_met(need.role, &need.agents)
                && !self.precursors.iter().any(|precursor| need.precursors.contains(precursor))
        };
        let of_class = self.class.needs.iter().filter(is_missing).filter(|need| !is_replaced(need));
        let first_borne =
            |agents: &[&'static str]| agents.iter().copied().find(|agent| !self.is_excepted(agent));
        let instead = self.exceptions.iter().filter(|exception| !is_met(exception.role, &exception.instead));
        let all = of_class
            .map(|need| (need.role, &need.agents))
            .chain(instead.map(|exception| (exception.role, &exception.instead)))
            .filter_map(|(role, agents)| Some((role, first_borne(agents)?)));
        let mut missing = Vec::new();
        for agent in all {
            if !missing.contains(&agent) {
                missing.push(agent);
            }
        }
        missing
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
            "work-up" | "never" => None,
            role => Some(ComponentRole::named(role)?),
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
    for (class, exception) in read_exceptions()? {
        classes.entry(class).or_default().exceptions.push(exception);
    }
    Ok(classes)
}

fn read_exceptions() -> Result<Vec<(&'static str, Exception)>, String> {
    let table = Table {
        file: "excepted_agents.tsv",
        text: include_str!("../tables/excepted_agents.tsv"),
        columns: ["class", "beside", "role", "instead", "never", "source"],
        keys: 3,
    };
    let rows = table.read(|[class, beside, role, instead, never, _]| {
        let class = ReactionClass::named(class).ok_or(format!("`{class}` is no reaction class"))?;
        let pattern = |smarts: &str| Pattern::parse(smarts).map_err(|error| format!("`{smarts}`: {error}"));
        let patterns = |mark: &str| {
            let marked = beside.split(' ').filter_map(|smarts| smarts.strip_prefix(mark));
            marked.map(pattern).collect::<Result<Vec<Pattern>, _>>()
        };
        let present = beside.split(' ').filter(|smarts| !smarts.starts_with(['!', '~']));
        let exception = Exception {
            present: present.map(pattern).collect::<Result<_, _>>()?,
            absent: patterns("!")?,
            nowhere: patterns("~")?,
            never: never.split('|').filter(|agent| *agent != "-").collect(),
            role: ComponentRole::named(role)?,
            instead: instead.split('|').collect(),
        };
        Ok((class.name, exception))
    });
    rows.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step<'a>(name: &str, precursors: &'a [&'a str]) -> StepConditions<'a> {
        StepConditions::of(ReactionClass::named(name).unwrap(), precursors)
    }

    #[test]
    fn the_table_can_be_read() {
        assert!(read().is_ok_and(|classes| classes.len() > 150));
    }

    #[test]
    fn an_agent_that_a_class_needs_is_no_agent_of_its_work_up() {
        for (name, conditions) in CONDITIONS.iter() {
            for need in &conditions.needs {
                assert!(!conditions.work_up.contains(&need.agents[0]), "{name}: {}", need.agents[0]);
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
                vec![(Catalyst, "copper(I) iodide"), (Reagent, "N,N'-dimethylethylenediamine")],
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
            (
                "amide coupling",
                vec![(Reagent, "DIPEA"), (Reagent, "HOBt"), (Solvent, "DMF")],
                vec![(Reagent, "EDC")],
            ),
            (
                "enolate arylation",
                vec![(Solvent, "THF")],
                vec![(Catalyst, "palladium"), (Reagent, "tert-butoxide")],
            ),
            (
                "Japp-Klingemann reaction",
                vec![(Solvent, "water")],
                vec![(Reagent, "nitrite"), (Reagent, "hydrogen chloride"), (Reagent, "acetate")],
            ),
            ("Boc removal", vec![], vec![(Reagent, "TFA"), (Solvent, "dichloromethane")]),
            (
                "Mitsunobu reaction",
                vec![(Reagent, "triphenylphosphine"), (Reagent, "ADDP"), (Solvent, "THF")],
                vec![],
            ),
        ];
        for (name, recorded, expected) in cases {
            let missing = step(name, &[]).missing(&recorded);

            assert_eq!(missing, expected, "{name}");
        }
    }

    #[test]
    fn a_precursor_may_be_the_reagent() {
        let reagents = |precursors: &[&str]| {
            step("sulfur oxidation", precursors).missing(&[(ComponentRole::Solvent, "methanol")]).len()
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
            assert_eq!(step(name, &[]).leaves_out(agent), expected, "{name}: {agent}");
        }
    }

    #[test]
    fn a_group_that_an_agent_takes_changes_the_agents() {
        use ComponentRole::{Catalyst, Reagent, Solvent};
        let bromide = ["O=[N+]([O-])c1ccc(Br)cc1"];
        let reduction = step("nitro reduction", &bromide);
        assert!(reduction.leaves_out("palladium") && reduction.leaves_out("hydrogen"));
        assert_eq!(reduction.missing(&[(Solvent, "ethanol")]), [(Reagent, "iron")]);
        assert_eq!(reduction.missing(&[(Reagent, "iron"), (Solvent, "ethanol")]), []);
        assert!(!step("nitro reduction", &["O=[N+]([O-])c1ccccc1"]).leaves_out("palladium"));

        let chloride = ["Clc1ccc(OC)cc1", "OB(O)c1ccccc1"];
        let recorded = [(Reagent, "carbonate"), (Solvent, "toluene")];
        assert_eq!(
            step("Suzuki coupling", &chloride).missing(&recorded),
            [(Catalyst, "palladium with XPhos")]
        );
        let bromide = ["Clc1ccc(Br)cc1", "OB(O)c1ccccc1"];
        assert_eq!(step("Suzuki coupling", &bromide).missing(&recorded), [(Catalyst, "Pd(PPh3)4")]);

        let chloride = ["CCCCCCCl", "CNCc1ccccc1"];
        let alkylation = step("N-alkylation", &chloride);
        assert_eq!(
            alkylation.missing(&[(Reagent, "carbonate"), (Solvent, "DMF")]),
            [(Reagent, "potassium iodide")]
        );
        assert_eq!(
            alkylation.missing(&[(Solvent, "DMF")]),
            [(Reagent, "carbonate"), (Reagent, "potassium iodide")]
        );

        let dioxole = step("Friedel-Crafts acylation", &["CCC(=O)Cl", "c1ccc2c(c1)OCO2"]);
        let solvent = [(Solvent, "dichloromethane")];
        assert!(dioxole.leaves_out("aluminium chloride"));
        assert_eq!(dioxole.missing(&solvent), [(Reagent, "tin(IV) chloride")]);

        let metal = |precursors: &[&str]| {
            step("Grignard or organolithium addition", precursors).missing(&[(Solvent, "THF")])
        };
        let halide = "COC(=O)c1ccc(Br)cc1";
        assert_eq!(metal(&[halide, "CC(C)=O"]), [(Reagent, "isopropylmagnesium chloride")]);
        assert_eq!(metal(&[halide, "C[Mg]Br"]), []);

        let acid = ["O=C(O)CCCc1ccccc1"];
        let acylation = step("Friedel-Crafts acylation", &acid);
        assert!(acylation.leaves_out("aluminium chloride"));
        assert_eq!(acylation.missing(&[(Solvent, "dichloromethane")]), [(Reagent, "polyphosphoric acid")]);
        let reduction = step("ester or acid reduction", &acid);
        assert!(reduction.leaves_out("borohydride"));
        assert_eq!(reduction.missing(&[(Solvent, "THF")]), [(Reagent, "borane")]);

        let metal = step("epoxide opening", &["C1OC1Cc1ccccc1", "Br[Mg]c1ccccc1"]);
        assert!(metal.leaves_out("ethanol"));
        assert_eq!(metal.missing(&[]), [(Solvent, "THF"), (Catalyst, "copper(I) iodide")]);
        let cuprate = step("organocuprate addition", &["Brc1ccccc1", "O=C1C=CCCC1"]);
        assert_eq!(
            cuprate.missing(&[(Solvent, "THF")]),
            [(Catalyst, "copper(I) iodide"), (Reagent, "magnesium")]
        );

        let methanol = step("SNAr ether synthesis", &["CO", "Clc1ccccn1"]);
        assert!(methanol.leaves_out("hydride") && methanol.leaves_out("DMF"));
        assert_eq!(methanol.missing(&[]), [(Reagent, "methoxide"), (Solvent, "methanol")]);
    }
}
