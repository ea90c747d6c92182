//! Visibility of samples: random worlds of accounts, organisations and samples, read by every account through every
//! operation and cursor.

use futures::future::join_all;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, Service, answer, claims};

const SAMPLES: &str = "/generator/v1/samples";

/// Number of random worlds; each takes some hundred requests.
const WORLDS: u32 = 20;

const ORGANISATIONS: usize = 2;

/// Description of a world by indices.
#[derive(Debug, Clone)]
struct Plan {
    /// Organisation of each account.
    memberships: Vec<Option<usize>>,
    /// Account that owns each sample, oldest first.
    samples: Vec<usize>,
    /// Changes of an account's organisation.
    moves: Vec<(usize, Option<usize>)>,
    /// Attempted deletions: account and sample.
    deletions: Vec<(usize, usize)>,
    limit: usize,
}

struct Person {
    id: String,
    token: String,
    organisation: Option<usize>,
}

/// World in the service's database, with its expected state.
struct World<'a> {
    service: &'a Service,
    people: Vec<Person>,
    organisations: Vec<String>,
    /// Owner and id, oldest first.
    samples: Vec<(usize, String)>,
    limit: usize,
}

fn plans() -> impl Strategy<Value = Plan> {
    let organisation = || option::weighted(0.7, 0..ORGANISATIONS);
    (vec(organisation(), 2..5), 1_usize..4).prop_flat_map(move |(memberships, limit)| {
        let people = memberships.len();
        let changes = (vec(0..people, 1..7), vec((0..people, organisation()), 0..3));
        (Just(memberships), changes, Just(limit)).prop_flat_map(
            move |(memberships, (samples, moves), limit)| {
                let deletions = vec((0..people, 0..samples.len()), 0..6);
                deletions.prop_map(move |deletions| {
                    let (memberships, samples, moves) = (memberships.clone(), samples.clone(), moves.clone());
                    Plan { memberships, samples, moves, deletions, limit }
                })
            },
        )
    })
}

fn fresh(kind: &str) -> String {
    format!("{kind}_{}", ulid::Ulid::generate().to_string().to_lowercase())
}

impl<'a> World<'a> {
    async fn make(service: &'a Service, plan: &Plan) -> Self {
        let mut world =
            Self { service, people: vec![], organisations: vec![], samples: vec![], limit: plan.limit };
        for _ in 0..ORGANISATIONS {
            let id = fresh("org");
            let make = sqlx::query("insert into organisations (id, name) values ($1, $1)").bind(&id);
            make.execute(&service.pool).await.unwrap();
            world.organisations.push(id);
        }
        for organisation in &plan.memberships {
            let id = fresh("acc");
            sqlx::query(
                "insert into accounts (id, email, name, password_hash, scopes, organisation_id) \
                 select $1, $1, '', '!', scopes, $2 from accounts where id = $3",
            )
            .bind(&id)
            .bind(organisation.map(|n| world.organisations[n].clone()))
            .bind(&service.account)
            .execute(&service.pool)
            .await
            .unwrap();
            let token = service.token(claims(&id)).await;
            world.people.push(Person { id, token, organisation: *organisation });
        }
        let base = ulid::Ulid::generate();
        for (n, maker) in plan.samples.iter().enumerate() {
            // Ascending ids, independent of the clock.
            let id = ulid::Ulid::from(u128::from(base) + n as u128).to_string().to_lowercase();
            let id = format!("smp_{id}");
            service.insert_sample(&world.people[*maker].id, &id).await;
            world.samples.push((*maker, id));
        }
        world
    }

    /// Visibility rule.
    fn sees(&self, reader: usize, maker: usize) -> bool {
        let organisation = self.people[reader].organisation;
        reader == maker || (organisation.is_some() && organisation == self.people[maker].organisation)
    }

    /// Returns the samples that the account sees, newest first.
    fn seen_by(&self, reader: usize) -> Vec<&str> {
        let seen = self.samples.iter().rev().filter(|(maker, _)| self.sees(reader, *maker));
        seen.map(|(_, id)| id.as_str()).collect()
    }

    async fn call(&self, user: usize, method: Method, path: &str) -> Answer {
        let request = self.service.http.request(method, format!("{}{SAMPLES}{path}", self.service.base));
        answer(request.bearer_auth(&self.people[user].token)).await
    }

    async fn joins(&mut self, user: usize, organisation: Option<usize>) {
        self.people[user].organisation = organisation;
        sqlx::query("update accounts set organisation_id = $2 where id = $1")
            .bind(&self.people[user].id)
            .bind(organisation.map(|n| &self.organisations[n]))
            .execute(&self.service.pool)
            .await
            .unwrap();
    }

    async fn creates(&mut self, user: usize) {
        let request = self.service.http.post(format!("{}{SAMPLES}", self.service.base));
        let request = request.bearer_auth(&self.people[user].token).json(&json!({ "size": 1 }));
        let created = answer(request).await;
        assert_eq!(created.status, 200, "{created:?}");
        self.samples.push((user, created.json()["id"].as_str().unwrap().to_owned()));
    }

    async fn deletes(&mut self, user: usize, sample: usize) {
        let Some((maker, id)) = self.samples.get(sample).cloned() else { return };
        let expected = match (user == maker, self.sees(user, maker)) {
            (true, _) => 204,
            (false, true) => 403,
            (false, false) => 404,
        };
        assert_eq!(self.call(user, Method::DELETE, &format!("/{id}")).await.status, expected);
        if expected == 204 {
            self.samples.remove(sample);
        }
    }

    /// Asserts that a page is the first `limit` items of `rest`, in the paging direction.
    fn expect(&self, page: &Answer, rest: &[&str], towards_newer: bool) {
        assert_eq!(page.status, 200, "{page:?}");
        let mut expected: Vec<_> = rest.iter().take(self.limit).collect();
        if towards_newer {
            expected.reverse();
        }
        let page = page.json();
        let ids: Vec<_> = page["data"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        assert_eq!(ids, expected);
        assert_eq!(page["has_more"], json!(rest.len() > self.limit));
    }

    /// Runs every read operation as the account.
    async fn read_everything(&self, reader: usize) {
        let seen = self.seen_by(reader);
        self.expect(&self.call(reader, Method::GET, &format!("?limit={}", self.limit)).await, &seen, false);
        for (_, id) in &self.samples {
            let position = seen.iter().position(|other| other == id);
            let one = self.call(reader, Method::GET, &format!("/{id}")).await;
            let next = self.call(reader, Method::GET, &format!("?limit={}&next-page={id}", self.limit)).await;
            let prev = self.call(reader, Method::GET, &format!("?limit={}&prev-page={id}", self.limit)).await;
            let Some(position) = position else {
                // The same as for an unknown id.
                assert_eq!((one.status, one.text.as_str()), (404, "null"));
                assert_eq!((next.status, next.text.as_str()), (400, "null"));
                assert_eq!((prev.status, prev.text.as_str()), (400, "null"));
                continue;
            };
            assert_eq!((one.status, &one.json()["id"]), (200, &json!(id)));
            self.expect(&next, &seen[position + 1..], false);
            let newer: Vec<_> = seen[..position].iter().rev().copied().collect();
            self.expect(&prev, &newer, true);
        }
    }

    async fn check_every_view(&self) {
        join_all((0..self.people.len()).map(|reader| self.read_everything(reader))).await;
    }
}

async fn run_plan(service: &Service, plan: &Plan) {
    let mut world = World::make(service, plan).await;
    world.check_every_view().await;
    for (user, organisation) in &plan.moves {
        world.joins(*user, *organisation).await;
    }
    world.creates(0).await;
    world.check_every_view().await;
    for (user, sample) in &plan.deletions {
        world.deletes(*user, *sample).await;
    }
    world.check_every_view().await;
}

#[test]
fn everybody_sees_their_own_samples_and_those_of_their_organisation_and_nothing_else() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let unlimited = [("RATE_SAMPLES_READ_PER_MINUTE", "0"), ("RATE_SAMPLES_CREATE_PER_MINUTE", "0")];
    let service = runtime.block_on(Service::start_with(&unlimited));
    let mut runner =
        TestRunner::new(Config { cases: WORLDS, failure_persistence: None, ..Config::default() });

    let outcome = runner.run(&plans(), |plan| {
        runtime.block_on(run_plan(&service, &plan));
        Ok(())
    });

    let _guard = runtime.enter();
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
