//! Resource use of the process, by the semantic conventions for process metrics.
//!
//! The values are read from `/proc` at each collection. Other systems than Linux have no `/proc`, and no such
//! metrics.

use std::time::{Duration, Instant};

use opentelemetry::{KeyValue, metrics::Meter};
use procfs::{page_size, process::Process, ticks_per_second};

/// Registers the metrics of the process.
pub(crate) fn observe(meter: &Meter) {
    let started = Instant::now();
    meter
        .f64_observable_counter("process.cpu.time")
        .with_unit("s")
        .with_description("CPU time that the process has used, by mode")
        .with_callback(|observer| {
            let Some(stat) = this().and_then(|process| process.stat().ok()) else { return };
            for (mode, ticks) in [("user", stat.utime), ("system", stat.stime)] {
                let seconds = Duration::from_secs(ticks).as_secs_f64()
                    / Duration::from_secs(ticks_per_second()).as_secs_f64();
                observer.observe(seconds, &[KeyValue::new("cpu.mode", mode)]);
            }
        })
        .build();
    meter
        .u64_observable_gauge("process.memory.usage")
        .with_unit("By")
        .with_description("Memory of the process that is in RAM")
        .with_callback(|observer| {
            if let Some(memory) = this().and_then(|process| process.statm().ok()) {
                observer.observe(memory.resident * page_size(), &[]);
            }
        })
        .build();
    meter
        .u64_observable_gauge("process.thread.count")
        .with_unit("{thread}")
        .with_description("Threads of the process")
        .with_callback(|observer| {
            if let Some(stat) = this().and_then(|process| process.stat().ok()) {
                observer.observe(stat.num_threads.unsigned_abs(), &[]);
            }
        })
        .build();
    meter
        .u64_observable_gauge("process.unix.file_descriptor.count")
        .with_unit("{file_descriptor}")
        .with_description("Files and connections that the process has open")
        .with_callback(|observer| {
            if let Some(count) = this().and_then(|process| process.fd_count().ok()) {
                observer.observe(count as u64, &[]);
            }
        })
        .build();
    meter
        .f64_observable_gauge("process.uptime")
        .with_unit("s")
        .with_description("How long the process has run")
        .with_callback(move |observer| observer.observe(started.elapsed().as_secs_f64(), &[]))
        .build();
}

fn this() -> Option<Process> {
    Process::myself().ok()
}
