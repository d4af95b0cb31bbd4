// SPDX-License-Identifier: MIT
//! Figures, and how sure they are.

use crate::sys;
use std::fmt;

/// A figure, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure<T> {
    /// Right, within the resolution of its source.
    Exact(T),
    /// A lower bound.
    AtLeast(T),
    /// An estimate: it may be above or below the truth.
    About(T),
    /// It could not be read.
    Unknown,
}

/// A struct with the three masks, which say how sure its figures are.
pub trait Masks {
    /// `valid`, `partial` and `estimated`.
    fn masks(&self) -> [u64; 3];
}

macro_rules! masks {
    ($($name:ident),*) => {
        $(impl Masks for sys::$name {
            fn masks(&self) -> [u64; 3] {
                [self.valid, self.partial, self.estimated]
            }
        })*
    };
}

masks!(
    rt_metrics,
    rt_delta,
    rt_outcome,
    rt_process,
    rt_cpu,
    rt_gpu,
    rt_gpu_process,
    rt_command_process,
    rt_peaks
);

impl<T> Figure<T> {
    /// A value of a struct, with how sure it is by its `RT_HAS_` bit. Of several bits, the least
    /// sure one decides.
    pub fn of(raw: &impl Masks, has: u64, value: T) -> Figure<T> {
        let [valid, partial, estimated] = raw.masks();
        if (valid | partial | estimated) & has != has {
            Figure::Unknown
        } else if estimated & has != 0 {
            Figure::About(value)
        } else if partial & has != 0 {
            Figure::AtLeast(value)
        } else {
            Figure::Exact(value)
        }
    }

    /// The value, however sure it is. `None` if it is unknown.
    pub fn value(self) -> Option<T> {
        match self {
            Figure::Exact(value) | Figure::AtLeast(value) | Figure::About(value) => Some(value),
            Figure::Unknown => None,
        }
    }

    /// The value if it is exact.
    pub fn exact(self) -> Option<T> {
        match self {
            Figure::Exact(value) => Some(value),
            _ => None,
        }
    }

    /// The same for another value. E.g.: in another unit.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> Figure<U> {
        match self {
            Figure::Exact(value) => Figure::Exact(to(value)),
            Figure::AtLeast(value) => Figure::AtLeast(to(value)),
            Figure::About(value) => Figure::About(to(value)),
            Figure::Unknown => Figure::Unknown,
        }
    }
}

/// "at least 3" and the like. What is exact is the value alone.
impl<T: fmt::Display> fmt::Display for Figure<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Exact(value) => value.fmt(f),
            Figure::AtLeast(value) => write!(f, "at least {value}"),
            Figure::About(value) => write!(f, "about {value}"),
            Figure::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Figure;
    use crate::sys;

    #[test]
    fn least_sure_bit_decides() {
        let (a, b) = (sys::RT_HAS_CPU, sys::RT_HAS_RSS);
        let cases = [
            (a | b, 0, 0, Figure::Exact(7), "7"),
            (a, b, 0, Figure::AtLeast(7), "at least 7"),
            (0, a, b, Figure::About(7), "about 7"),
            (a, 0, 0, Figure::Unknown, "unknown"),
        ];
        for (valid, partial, estimated, expected, text) in cases {
            let raw = sys::rt_metrics { valid, partial, estimated, ..Default::default() };
            let found = Figure::of(&raw, a | b, 7);
            assert_eq!((found, found.to_string().as_str()), (expected, text));
            assert_eq!(found.value().is_some(), expected != Figure::Unknown);
            assert_eq!(found.exact().is_some(), partial | estimated == 0 && valid == a | b);
            assert_eq!(found.map(|value| value + 1).value(), found.value().map(|value| value + 1));
        }
    }
}
