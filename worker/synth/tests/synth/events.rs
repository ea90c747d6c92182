//! Progress events of a search, and checks that it finds the same with and without a listener.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use crate::toy::*;
use catalogue::StockView;
use synth::{
    Budget, Constraints, Counts, EventPacing, Listener, Planner, PlannerSettings, Progress, PublishedRoute,
    RetroModel, SearchEvent, SearchResult, Stop, TargetPurchase, Task,
};

/// Listener that records all events.
#[derive(Default)]
struct RecordingListener {
    is_deaf: bool,
    heard: RefCell<Vec<SearchEvent>>,
}

impl Listener for RecordingListener {
    fn is_there(&self) -> bool {
        !self.is_deaf
    }

    fn hear(&self, news: SearchEvent) {
        self.heard.borrow_mut().push(news);
    }

    /// Sends events after every expansion, so that the machine's speed does not matter.
    fn pace(&self) -> EventPacing {
        EventPacing { share: 1e4, shortest_look: Duration::ZERO, pause: Duration::ZERO }
    }
}

impl RecordingListener {
    fn routes(&self) -> Vec<PublishedRoute> {
        let heard = self.heard.borrow();
        let routes = heard.iter().filter_map(|news| match news {
            SearchEvent::Route(route) => Some((**route).clone()),
            SearchEvent::Progress(_) => None,
        });
        routes.collect()
    }

    fn progress(&self) -> Vec<Progress> {
        let heard = self.heard.borrow();
        let progress = heard.iter().filter_map(|news| match news {
            SearchEvent::Progress(progress) => Some(*progress),
            SearchEvent::Route(_) => None,
        });
        progress.collect()
    }
}

fn told(
    model: &Arc<RetroModel>,
    shelf: &StockView,
    task: &Task,
    budget: &Budget,
    ear: &RecordingListener,
) -> SearchResult {
    let planner =
        Planner::new(Arc::clone(model), PlannerSettings { cache_bytes: 0, ..PlannerSettings::default() });
    planner.plan_with_events(shelf, task, budget, Some(ear))
}

/// Returns a plan without the time and the memory that it took.
fn timeless(plan: &SearchResult) -> SearchResult {
    let counts = Counts { memory_bytes: 0, ..plan.counts };
    SearchResult { timings: Default::default(), counts, ..plan.clone() }
}

fn diamide() -> (Arc<RetroModel>, StockView, Task) {
    let model = model(&[
        (AMIDE, 5.0),
        (AMIDE_FROM_CHLORIDE, 3.0),
        (SAPONIFICATION, 2.0),
        (METHYL_ESTER, 2.0),
        (REDUCTIVE_AMINATION, 1.0),
    ]);
    let shelf = shelf(&["CCN", "CCCN", "CC=O", "O=C(O)CCC(=O)O", "O=C(Cl)CCC(=O)O", "COC(=O)CCC(=O)OC"]);
    let task = Task { max_depth: 3, max_groups: 1000, max_group_size: 1000, ..task("CCCNC(=O)CCC(=O)NCC") };
    (model, shelf, task)
}

#[test]
fn every_route_is_told_once_and_is_one_of_the_answers() {
    let (model, shelf, task) = diamide();
    let ear = RecordingListener::default();

    let plan = told(&model, &shelf, &task, &expansions(5000), &ear);

    assert!(plan.exhausted);
    let text_of = |found: &PublishedRoute| (found.key.clone(), found.steps, text(&found.route));
    let answered: Vec<_> = plan
        .groups
        .iter()
        .flat_map(|group| {
            let routes = group.variations.iter().flatten();
            routes.map(|route| (group.key.clone(), group.steps, text(route)))
        })
        .collect();
    let mut heard: Vec<_> = ear.routes().iter().map(text_of).collect();
    assert!(heard.iter().all(|route| answered.contains(route)), "{heard:?}");
    heard.sort();
    heard.dedup();
    assert_eq!(heard.len(), ear.routes().len());
    // The last expansions may find further routes.
    assert!(heard.len() * 2 > answered.len(), "{} of {}", heard.len(), answered.len());
}

#[test]
fn progress_grows_and_names_the_best_route_so_far() {
    let (model, shelf, task) = diamide();
    let ear = RecordingListener::default();

    let plan = told(&model, &shelf, &task, &expansions(5000), &ear);

    let progress = ear.progress();
    assert!(progress.is_sorted_by_key(|progress| (progress.expansions, progress.molecules, progress.routes)));
    assert_eq!((progress[0].expansions, progress[0].molecules, progress[0].best_cost), (0, 1, None));
    let last = progress.last().unwrap();
    let best = plan.routes().map(|route| route.cost).fold(f64::INFINITY, f64::min);
    assert_eq!((last.expansions, last.best_cost), (plan.counts.expansions, Some(best)));
    assert_eq!(last.depth, 2);
}

#[test]
fn a_search_finds_the_same_whether_anybody_listens_or_not() {
    let (model, shelf, every) = diamide();
    let constrained =
        Task { constraints: Constraints { max_steps: Some(3), ..Constraints::default() }, ..every.clone() };
    let first = Task { stop: Stop::FirstRoute, ..every.clone() };
    for task in [every, constrained, first] {
        for most in [3, 10, 40, 5000] {
            let alone = told(
                &model,
                &shelf,
                &task,
                &expansions(most),
                &RecordingListener { is_deaf: true, ..RecordingListener::default() },
            );
            let plain = Planner::new(
                Arc::clone(&model),
                PlannerSettings { cache_bytes: 0, ..PlannerSettings::default() },
            )
            .plan(&shelf, &task, &expansions(most));

            let heard = told(&model, &shelf, &task, &expansions(most), &RecordingListener::default());

            assert_eq!(timeless(&heard), timeless(&plain), "after {most} expansions");
            assert_eq!(timeless(&alone), timeless(&plain), "after {most} expansions");
        }
    }
}

#[test]
fn what_rules_and_judge_say_in_a_look_changes_nothing_either() {
    let model = shipped();
    let shelf = shelf(&[
        "Cc1cccc(C)c1N",
        "CCNCC",
        "O=C(Cl)CCl",
        "O=C(O)CCl",
        "CCN(CC)CC(=O)O",
        "CCN(CC)CC(=O)OC",
        "Cc1cccc(C)c1NC(=O)CCl",
        "Cc1cccc(C)c1NC(=O)CBr",
        "CCO",
        "CCBr",
        "CC=O",
        "O=C(O)CBr",
        "NCC(=O)O",
    ]);
    let task = task("CCN(CC)CC(=O)Nc1c(C)cccc1C");
    let planner =
        || Planner::new(Arc::clone(&model), PlannerSettings { cache_bytes: 0, ..PlannerSettings::default() });
    let plain = planner().plan(&shelf, &task, &expansions(30));
    let ear = RecordingListener::default();

    let heard = planner().plan_with_events(&shelf, &task, &expansions(30), Some(&ear));

    assert_eq!(timeless(&heard), timeless(&plain));
    let refused = plain.counts.refusals;
    assert!(refused.unsound + refused.product_not_regained + refused.competing_site > 0, "{refused:?}");
    assert!(ear.routes().len() > 3, "{}", ear.routes().len());
    let is_answered = |found: &PublishedRoute| plain.routes().any(|route| text(route) == text(&found.route));
    assert!(is_answered(&ear.routes()[0]));
}

#[test]
fn the_first_route_and_one_that_buys_the_target_are_told_as_well() {
    let model = model(&[(AMIDE, 1.0)]);
    let shelf = shelf(&["CNC(C)=O", "CC(=O)O", "CN"]);
    let first = Task { stop: Stop::FirstRoute, ..task("CC(=O)NC") };
    let bought = Task { trivial: TargetPurchase::Allow, ..first.clone() };
    let heard = |task: &Task| {
        let ear = RecordingListener::default();
        told(&model, &shelf, task, &expansions(10), &ear);
        ear.routes().iter().map(|found| (found.steps, text(&found.route))).collect::<Vec<_>>()
    };

    assert_eq!(heard(&first), [(1, vec!["CC(=O)O.CN>>CNC(C)=O".to_owned()])]);
    assert_eq!(heard(&bought), [(0, Vec::new())]);
}

#[test]
fn nothing_is_told_to_nobody() {
    let (model, shelf, task) = diamide();
    let ear = RecordingListener { is_deaf: true, ..RecordingListener::default() };

    told(&model, &shelf, &task, &expansions(100), &ear);

    assert!(ear.heard.borrow().is_empty());
}
