//! What was asked, in full: enough to ask it again without an argument.

use super::{SessionError, io};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The version that is written. A reader refuses others.
const FORMAT: u32 = 1;

/// A grammar by text, and how it was named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrammarSource {
    /// The file or bundled name that was given.
    pub name: String,
    /// The grammar's text.
    pub text: String,
    /// The start that was asked for.
    pub start: Option<String>,
}

/// What was asked. What the oracle's specification and the options hold is the caller's business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The grammar.
    pub grammar: GrammarSource,
    /// The oracle's specification.
    pub oracle: serde_json::Value,
    /// Equal only for oracles whose outcomes are interchangeable.
    pub oracle_identity: String,
    /// The folder that relative paths of the oracle start from.
    pub base: PathBuf,
    /// The input's file name.
    pub input_name: String,
    /// The input; kept in a file of its own.
    #[serde(skip)]
    pub input: Vec<u8>,
    /// Seed of everything random.
    pub seed: u64,
    /// Further choices that change results.
    pub options: BTreeMap<String, serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
struct File<R> {
    format: u32,
    #[serde(flatten)]
    request: R,
}

impl Request {
    /// Name of the request's folder. How the grammar was named and where the oracle lies does not count.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let start = self.grammar.start.clone().unwrap_or_default();
        let options = serde_json::to_string(&self.options).unwrap_or_default();
        let parts = [&self.grammar.text, &start, &self.oracle_identity, &self.input_name, &options];
        for part in parts.map(|part| part.as_bytes()).into_iter().chain([self.input.as_slice()]) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        hasher.update(&self.seed.to_le_bytes());
        hasher.finalize().to_hex()[..12].to_owned()
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(&File { format: FORMAT, request: self }).unwrap_or_default()
    }

    pub(super) fn load(folder: &Path) -> Result<Request, SessionError> {
        let path = folder.join("request.json");
        let text = fs::read_to_string(&path).map_err(io("read", &path))?;
        let damaged = |what: String| SessionError::Damaged { path: path.clone(), what };
        let file: File<Request> = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if file.format != FORMAT {
            return Err(damaged(format!("it has format {}, this version reads {FORMAT}", file.format)));
        }
        let mut request = file.request;
        let input = folder.join("input").join(&request.input_name);
        request.input = fs::read(&input).map_err(io("read", &input))?;
        Ok(request)
    }
}
