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
    is_closed: bool,
    events: RefCell<Vec<SearchEvent>>,
}

impl Listener for RecordingListener {
    fn is_wanted(&self) -> bool {
        !self.is_closed
    }

    fn on_event(&self, event: SearchEvent) {
        self.events.borrow_mut().push(event);
    }

    /// Sends events after every expansion, so that the machine's speed does not matter.
    fn pace(&self) -> EventPacing {
        EventPacing { share: 1e4, min_extraction_time: Duration::ZERO, pause: Duration::ZERO }
    }
}

impl RecordingListener {
    fn routes(&self) -> Vec<PublishedRoute> {
        let events = self.events.borrow();
        let routes = events.iter().filter_map(|event| match event {
            SearchEvent::Route(route) => Some((**route).clone()),
            SearchEvent::Progress(_) => None,
        });
        routes.collect()
    }

    fn progress(&self) -> Vec<Progress> {
        let events = self.events.borrow();
        let progress = events.iter().filter_map(|event| match event {
            SearchEvent::Progress(progress) => Some(*progress),
            SearchEvent::Route(_) => None,
        });
        progress.collect()
    }
}

fn plan_with_listener(
    model: &Arc<RetroModel>,
    stock: &StockView,
    task: &Task,
    budget: &Budget,
    listener: &RecordingListener,
) -> SearchResult {
    let planner =
        Planner::new(Arc::clone(model), PlannerSettings { cache_bytes: 0, ..PlannerSettings::default() });
    planner.plan_with_events(stock, task, budget, Some(listener))
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
    let stock = stock(&["CCN", "CCCN", "CC=O", "O=C(O)CCC(=O)O", "O=C(Cl)CCC(=O)O", "COC(=O)CCC(=O)OC"]);
    let task = Task { max_depth: 3, max_groups: 1000, max_group_size: 1000, ..task("CCCNC(=O)CCC(=O)NCC") };
    (model, stock, task)
}

#[test]
fn every_route_is_published_once_and_is_one_of_the_answers() {
    let (model, stock, task) = diamide();
    let listener = RecordingListener::default();

    let plan = plan_with_listener(&model, &stock, &task, &expansions(5000), &listener);

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
    let mut events: Vec<_> = listener.routes().iter().map(text_of).collect();
    assert!(events.iter().all(|route| answered.contains(route)), "{events:?}");
    events.sort();
    events.dedup();
    assert_eq!(events.len(), listener.routes().len());
    // The last expansions may find further routes.
    assert!(events.len() * 2 > answered.len(), "{} of {}", events.len(), answered.len());
}

#[test]
fn progress_grows_and_names_the_best_route_so_far() {
    let (model, stock, task) = diamide();
    let listener = RecordingListener::default();

    let plan = plan_with_listener(&model, &stock, &task, &expansions(5000), &listener);

    let progress = listener.progress();
    assert!(progress.is_sorted_by_key(|progress| (progress.expansions, progress.molecules, progress.routes)));
    assert_eq!((progress[0].expansions, progress[0].molecules, progress[0].best_cost), (0, 1, None));
    let last = progress.last().unwrap();
    let best = plan.routes().map(|route| route.cost).fold(f64::INFINITY, f64::min);
    assert_eq!((last.expansions, last.best_cost), (plan.counts.expansions, Some(best)));
    assert_eq!(last.depth, 2);
}

#[test]
fn a_search_finds_the_same_whether_anybody_listens_or_not() {
    let (model, stock, every) = diamide();
    let constrained =
        Task { constraints: Constraints { max_steps: Some(3), ..Constraints::default() }, ..every.clone() };
    let first = Task { stop: Stop::FirstRoute, ..every.clone() };
    for task in [every, constrained, first] {
        for most in [3, 10, 40, 5000] {
            let alone = plan_with_listener(
                &model,
                &stock,
                &task,
                &expansions(most),
                &RecordingListener { is_closed: true, ..RecordingListener::default() },
            );
            let plain = Planner::new(
                Arc::clone(&model),
                PlannerSettings { cache_bytes: 0, ..PlannerSettings::default() },
            )
            .plan(&stock, &task, &expansions(most));

            let events =
                plan_with_listener(&model, &stock, &task, &expansions(most), &RecordingListener::default());

            assert_eq!(timeless(&events), timeless(&plain), "after {most} expansions");
            assert_eq!(timeless(&alone), timeless(&plain), "after {most} expansions");
        }
    }
}

#[test]
fn assessments_of_an_extraction_pass_do_not_change_the_search() {
    let model = shipped();
    let stock = stock(&[
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
    let plain = planner().plan(&stock, &task, &expansions(30));
    let listener = RecordingListener::default();

    let events = planner().plan_with_events(&stock, &task, &expansions(30), Some(&listener));

    assert_eq!(timeless(&events), timeless(&plain));
    let refused = plain.counts.refusals;
    assert!(refused.unsound + refused.product_not_regained + refused.competing_site > 0, "{refused:?}");
    assert!(listener.routes().len() > 3, "{}", listener.routes().len());
    let is_answered = |found: &PublishedRoute| plain.routes().any(|route| text(route) == text(&found.route));
    assert!(is_answered(&listener.routes()[0]));
}

#[test]
fn the_first_route_and_one_that_buys_the_target_are_published() {
    let model = model(&[(AMIDE, 1.0)]);
    let stock = stock(&["CNC(C)=O", "CC(=O)O", "CN"]);
    let first = Task { stop: Stop::FirstRoute, ..task("CC(=O)NC") };
    let bought = Task { target_purchase: TargetPurchase::Allow, ..first.clone() };
    let events = |task: &Task| {
        let listener = RecordingListener::default();
        plan_with_listener(&model, &stock, task, &expansions(10), &listener);
        listener.routes().iter().map(|found| (found.steps, text(&found.route))).collect::<Vec<_>>()
    };

    assert_eq!(events(&first), [(1, vec!["CC(=O)O.CN>>CNC(C)=O".to_owned()])]);
    assert_eq!(events(&bought), [(0, Vec::new())]);
}

#[test]
fn nothing_is_published_without_a_listener() {
    let (model, stock, task) = diamide();
    let listener = RecordingListener { is_closed: true, ..RecordingListener::default() };

    plan_with_listener(&model, &stock, &task, &expansions(100), &listener);

    assert!(listener.events.borrow().is_empty());
}
