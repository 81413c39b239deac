use model::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let preset = args.next().unwrap_or("pangu-ultra-moe-6k".into());
    let mut d = design::Design::from_preset(&preset).unwrap();
    for a in args { let (k, v) = a.split_once('=').unwrap(); d.set_text(design::KnobId::find(k).unwrap(), v).unwrap(); }
    match Plan::new(&d) {
        Err(v) => for x in v { println!("{} {} {:?}", x.rule, x.message, x.nearest); },
        Ok(p) => {
            let e = estimate(&p);
            println!("{:#?}", e.metrics);
            for (part, t) in e.step.parts() { println!("{:12} {:.3}", part.label(), t.get()); }
            for s in &e.stages { println!("{} L{} {:?} inflight {:.2} f {:.4} b {:.4} compute {:.2} exp {:.2} idle {:.2} host {:.2}", s.stage, s.num_layers, s.memory.parts().map(|b| (b.to_gib()*100.0).round()/100.0), s.peak_in_flight, s.forward.get(), s.backward.get(), s.compute.get(), s.exposed.get(), s.idle.get(), s.host_memory.to_gib()); }
            for c in &e.communication { println!("{:?} {:?} {:?} call {:.1} MB, step {:.1} GB {:.3} s exposed {:.3}", c.axis, c.link, c.collective, c.bytes_per_call.get()/1e6, c.bytes.to_gb(), c.time.get(), c.exposed.get()); }
            println!("{:?}", e.warnings);
        }
    }
}
