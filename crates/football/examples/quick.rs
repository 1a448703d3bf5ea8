use model::*;
use world::*;
struct S {
    n: usize,
    sums: Vec<f64>,
    sq: Vec<f64>,
    games: f64,
    rows: u64,
    m3: f64,
    m7: f64,
}
impl Sink for S {
    fn outcomes(&mut self, b: OutcomeBlock<'_>) -> Result<(), Stop> {
        if b.entity < 288 {
            self.games += b.range.count() as f64;
            if let Values::I16(m) = b.columns[7] {
                for x in m {
                    if x.abs() == 3 {
                        self.m3 += 1.
                    };
                    if x.abs() == 7 {
                        self.m7 += 1.
                    }
                }
            }
            for (i, c) in b.columns.iter().enumerate() {
                if let Values::I16(v) = c {
                    for &x in *v {
                        self.sums[i] += x as f64;
                        self.sq[i] += (x as f64).powi(2);
                    }
                }
            }
        }
        self.n += 1;
        Ok(())
    }
    fn events(&mut self, b: EventBlock<'_>) -> Result<(), Stop> {
        self.rows += b.rows.iter().map(|&x| x as u64).sum::<u64>();
        Ok(())
    }
}
struct N;
impl Sink for N {
    fn outcomes(&mut self, _: OutcomeBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
    fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
        Ok(())
    }
}
fn main() {
    let p = Parameters::parse(
        football::PARAMETERS,
        std::env::args().skip(1).collect::<Vec<_>>().iter().map(|s| s.split_once('=').unwrap()),
    )
    .unwrap();
    let f = football::Football::new(&p).unwrap();
    let w = 400;
    let r = WorldRange::new(World(0), w).unwrap();
    for ev in [false, true] {
        let t = std::time::Instant::now();
        f.simulate(Seed(1), r, Wanted { events: ev, entity: None }, &mut N).unwrap();
        println!("events {ev}: {:.2} ms/world", t.elapsed().as_secs_f64() * 1e3 / w as f64);
    }
    let mut s = S { n: 0, sums: vec![0.; 850], sq: vec![0.; 850], games: 0., rows: 0, m3: 0., m7: 0. };
    f.simulate(Seed(1), r, Wanted { events: true, entity: None }, &mut s).unwrap();
    println!("rows/game {:.1} m3 {:.3} m7 {:.3}", s.rows as f64 / s.games, s.m3 / s.games, s.m7 / s.games);
    let c = f.catalogue();
    for (i, o) in c.kinds[0].outcomes.iter().enumerate() {
        if !o.name.starts_with("away") && !o.name.contains("_d2") && !o.name.contains("_d3") {
            let m = s.sums[i] / s.games;
            let sd = (s.sq[i] / s.games - m * m).sqrt();
            println!("{} {:.3} {:.3}", o.name, m, sd);
        }
    }
}
