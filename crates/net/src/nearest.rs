//! The nearest of some names: for whoever has mistyped one.

/// The known name with the fewest letters put in, left out or changed (Levenshtein 1966), the first of them; `None` if more
/// than a third of its letters would have to be.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |other: &&str| distance(name, other);
    let found = known.into_iter().min_by_key(near)?;
    (near(&found) <= (found.chars().count() / 3).max(1)).then_some(found)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_more_or_less_is_near() {
        let known = ["h000", "h001", "h110", "client"];
        assert_eq!(nearest("h0001", known), Some("h000"));
        assert_eq!(nearest("h111", known), Some("h110"));
        assert_eq!(nearest("cleint", known), Some("client"));
        assert_eq!(nearest("server", known), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!((distance("kitten", "sitting"), distance("", "abc")), (3, 3));
    }
}
