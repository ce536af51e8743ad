//! Flow sizes from a file: one point of the cumulative distribution per line.
//!
//! A line has bytes and cumulative percent, separated by spaces, tabs or a comma; what follows `#` is a comment. Between
//! points sizes are linear, and the first point is an atom (see `cdf`).

use crate::cdf::Cdf;
use crate::error::Fault;
use crate::kinds::FilePath;

crate::kind! {
    /// A distribution read from a file: `bytes cumulative-percent` per line.
    pub struct Empirical: "flow_size" / "empirical", source "" {
        /// The file.
        pub file: FilePath;
    }
}

impl Empirical {
    pub(super) fn read(&self) -> Result<Cdf, Vec<Fault>> {
        let path = &self.file.0;
        let fault = |message: String| Fault::new("flow_size.file", message);
        let text = std::fs::read_to_string(path)
            .map_err(|e| vec![fault(format!("cannot read {path}: {e}"))])?;
        parse(&text).map_err(|faults| {
            faults
                .into_iter()
                .map(|(line, text)| fault(format!("{path}, line {line}: {text}")))
                .collect()
        })
    }
}

/// The distribution, or every faulty line by number.
fn parse(text: &str) -> Result<Cdf, Vec<(usize, String)>> {
    let (mut points, mut lines, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (i, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let fields: Vec<_> = content
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|f| !f.is_empty())
            .collect();
        match fields[..]
            .iter()
            .map(|f| f.parse::<f64>())
            .collect::<Result<Vec<_>, _>>()
            .as_deref()
        {
            Ok(&[bytes, percent]) => {
                points.push((bytes, percent));
                lines.push(i + 1);
            }
            _ => faults.push((
                i + 1,
                format!("{content:?} is not \"bytes percent\", as in \"10000 15\""),
            )),
        }
    }
    if faults.is_empty() {
        let line = |at: usize| lines.get(at).copied().unwrap_or(1);
        return Cdf::new(&points).map_err(|(at, message)| vec![(line(at), message)]);
    }
    Err(faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_size::Draw;

    #[test]
    fn a_file_gives_its_distribution() {
        // A tenth of 1 kB, the rest 1 to 3 kB: 100 + 0.9 x 2000.
        let cdf = parse("# sizes\n1000 10\n\n3000,\t100 # all\n").unwrap();
        assert!((cdf.mean() - 1900.0).abs() < 1e-9);
    }

    #[test]
    fn every_faulty_line_is_named() {
        let faults = parse("1000 10\n2000\nfoo 7\n3000 100\n").unwrap_err();
        assert_eq!(faults.iter().map(|f| f.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(
            faults[0].1,
            "\"2000\" is not \"bytes percent\", as in \"10000 15\""
        );
        assert_eq!(
            parse("#\n1000 50\n900 100\n").unwrap_err(),
            [(3, "900 bytes do not come after 1000".to_owned())]
        );
        assert_eq!(
            parse("").unwrap_err(),
            [(1, "ends at 0 %, not at 100 %".to_owned())]
        );
    }

    #[test]
    fn a_missing_file_is_a_fault() {
        let faults = Empirical {
            file: FilePath("/nowhere/cdf".into()),
        }
        .read()
        .unwrap_err();
        assert!(
            faults[0]
                .to_string()
                .starts_with("flow_size.file: cannot read /nowhere/cdf: "),
            "{faults:?}"
        );
    }
}
