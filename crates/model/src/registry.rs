//! The models of a program, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::parameters::DEFINITION;
use crate::{Model, ParameterError, Parameters, Plugin, UnknownName};

/// Finds a model by a name that was not added, such as a place in a user's file. `None` if the name is not of the form
/// that it handles; an error says why a name of this form leads to no model.
pub type FindModel = Arc<dyn Fn(&str) -> Option<Result<Plugin, String>> + Send + Sync>;

/// The model of ensembles whose worlds no model played. No model can have this name.
pub const NO_MODEL: &str = "import";

/// The models of a program. Shared by its threads, and open to more models at any time.
#[derive(Default)]
pub struct Models(RwLock<Known>);

#[derive(Default)]
struct Known {
    plugins: BTreeMap<String, Arc<Plugin>>,
    finders: Vec<Finder>,
}

#[derive(Clone)]
struct Finder {
    find: FindModel,
    /// Whether a name leads to the same model as long as the program runs.
    is_steady: bool,
}

#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ModelsError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// [`NO_MODEL`] was asked for.
    #[error("no model: \"{NO_MODEL}\" stands for imported numbers, which no model played")]
    Imported,
    #[error("cannot load model {name:?}: {reason}")]
    Load { name: String, reason: String },
    #[error("model {name:?} is not described correctly: {reason}")]
    Invalid { name: String, reason: String },
}

impl Models {
    /// The models of `plugins`.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn new(plugins: impl IntoIterator<Item = Plugin>) -> Result<Self, ModelsError> {
        let models = Self::default();
        plugins.into_iter().try_for_each(|plugin| models.add(plugin))?;
        Ok(models)
    }

    /// Adds a model.
    ///
    /// # Errors
    /// If the name is taken or the plugin's description is invalid.
    pub fn add(&self, plugin: Plugin) -> Result<(), ModelsError> {
        let mut known = self.write();
        let taken = known.plugins.contains_key(&plugin.name).then(|| "another model has this name".to_owned());
        if let Some(reason) = taken.or_else(|| fault(&plugin)) {
            return Err(ModelsError::Invalid { name: plugin.name, reason });
        }
        known.plugins.insert(plugin.name.clone(), Arc::new(plugin));
        Ok(())
    }

    /// Adds a way to find models by name. Later calls of [`Self::find`] try all ways in the order of their addition.
    pub fn add_finder(&self, find: FindModel) {
        self.write().finders.push(Finder { find, is_steady: true });
    }

    /// As [`Self::add_finder`], for names that may lead to another model later, such as a class that is defined again:
    /// [`Self::find`] looks each time, and [`Self::all`] does not list them.
    pub fn add_finder_each_time(&self, find: FindModel) {
        self.write().finders.push(Finder { find, is_steady: false });
    }

    /// All models added or found for good so far, by name.
    pub fn all(&self) -> Vec<Arc<Plugin>> {
        self.read().plugins.values().cloned().collect()
    }

    /// A model by name.
    ///
    /// # Errors
    /// [`ModelsError::Unknown`] with suggestions; [`ModelsError::Imported`] for [`NO_MODEL`]; [`ModelsError::Load`] or
    /// [`ModelsError::Invalid`] if the name leads to a model that cannot be used.
    pub fn find(&self, name: &str) -> Result<Arc<Plugin>, ModelsError> {
        if name == NO_MODEL {
            return Err(ModelsError::Imported);
        }
        let finders = {
            let known = self.read();
            if let Some(plugin) = known.plugins.get(name) {
                return Ok(plugin.clone());
            }
            known.finders.clone()
        };
        // Without the lock: loading a model may take long, or ask for another.
        let found = |finder: &Finder| Some(((finder.find)(name)?, finder.is_steady));
        if let Some((found, is_steady)) = finders.iter().find_map(found) {
            let plugin = found.map_err(|reason| ModelsError::Load { name: name.to_owned(), reason })?;
            if let Some(reason) = fault(&plugin) {
                return Err(ModelsError::Invalid { name: name.to_owned(), reason });
            }
            let plugin = Arc::new(plugin);
            return Ok(if is_steady {
                self.write().plugins.entry(name.to_owned()).or_insert(plugin).clone()
            } else {
                plugin
            });
        }
        Err(UnknownName::new("no model", name, self.read().plugins.keys().map(String::as_str)).into())
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.read().plugins.keys()).finish()
    }
}

impl Plugin {
    /// The model with parameters as [`Parameters::to_json`] wrote them.
    ///
    /// # Errors
    /// If the parameters are invalid, or the model refuses them.
    pub fn build_from_json(&self, parameters: &str) -> Result<Arc<dyn Model>, ParameterError> {
        Ok((self.build)(&Parameters::from_json(&self.parameters, parameters)?)?.into())
    }
}

/// What is wrong with a description; `None` if it is valid.
fn fault(plugin: &Plugin) -> Option<String> {
    if plugin.name.is_empty() || plugin.name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some("its name is empty or has spaces".to_owned());
    }
    if plugin.name == NO_MODEL {
        return Some("the name stands for imported numbers: choose another".to_owned());
    }
    let mut names = BTreeSet::from([DEFINITION]);
    plugin.parameters.iter().find_map(|spec| {
        if !names.insert(&spec.name) {
            return Some(format!("the name of parameter {:?} is taken", spec.name));
        }
        spec.check(spec.default.clone()).err().map(|error| format!("the default is not accepted: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::{ParameterSpec, ParameterValue};

    fn plugin(name: &str, parameters: Vec<ParameterSpec>) -> Plugin {
        Plugin {
            name: name.to_owned(),
            summary: String::new(),
            parameters: parameters.into(),
            definition: None,
            origin: None,
            build: Arc::new(|_| Err(ParameterError::Model("never built".to_owned()))),
        }
    }

    #[test]
    fn models_are_added_and_found() {
        let models = Models::new([plugin("dice", Vec::new())]).unwrap();
        models.add(plugin("cards", Vec::new())).unwrap();
        let loads = |name: &str| match name.split_once(':')? {
            ("games", class) => Some(Ok(plugin(&format!("games:{class}"), Vec::new()))),
            (file, _) => Some(Err(format!("no file {file}"))),
        };
        models.add_finder(Arc::new(loads));
        assert_eq!(models.find("cards").unwrap().name, "cards");
        assert_eq!(models.find("games:Chess").unwrap().name, "games:Chess");
        let names: Vec<String> = models.all().iter().map(|plugin| plugin.name.clone()).collect();
        assert_eq!(names, ["cards", "dice", "games:Chess"]);
        let message = |name: &str| models.find(name).map(|_| ()).unwrap_err().to_string();
        assert_eq!(message("dcie"), "no model \"dcie\"; did you mean dice?");
        assert_eq!(message("x:Y"), "cannot load model \"x:Y\": no file x");
    }

    #[test]
    fn models_that_are_defined_again_are_found_again() {
        let models = Models::default();
        let count = AtomicU32::new(0);
        models.add_finder_each_time(Arc::new(move |name| {
            let low = f64::from(count.fetch_add(1, Ordering::Relaxed));
            Some(Ok(plugin(name, vec![ParameterSpec::number("x", "", low, low, 9.0)])))
        }));
        let default = || models.find("again").unwrap().parameters[0].default.clone();
        assert_eq!([default(), default()], [0.0, 1.0].map(ParameterValue::Number));
        assert!(models.all().is_empty());
    }

    #[test]
    fn invalid_descriptions_are_refused() {
        let models = Models::new([plugin("dice", Vec::new())]).unwrap();
        let spec = |name: &'static str, default| ParameterSpec::number(name, "", default, 0.0, 1.0);
        for (plugin, expected) in [
            (plugin("dice", Vec::new()), "model \"dice\" is not described correctly: another model has this name"),
            (plugin("a b", Vec::new()), "its name is empty or has spaces"),
            (plugin("import", Vec::new()), "the name stands for imported numbers: choose another"),
            (plugin("a", vec![spec("x", 0.0), spec("x", 0.0)]), "the name of parameter \"x\" is taken"),
            (plugin("a", vec![spec("definition", 0.0)]), "the name of parameter \"definition\" is taken"),
            (plugin("a", vec![spec("x", 2.0)]), "parameter x is 2: give a number from 0 to 1"),
        ] {
            let refused = models.add(plugin).unwrap_err().to_string();
            assert!(refused.ends_with(expected), "{refused}");
        }
    }
}
