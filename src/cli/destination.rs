//! Where jobs go: what the command line says, or else site files, or else what there is.

use crate::diagnostic::Fault;
use crate::site::{self, Cluster, Site, System};

/// As in site files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SystemName {
    /// As processes of this machine
    Local,
    /// As jobs of a Slurm cluster
    Slurm,
}

/// Where jobs go.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Destination {
    /// They become processes of this machine.
    Local,
    /// They are submitted to this cluster.
    Slurm(Box<Cluster>),
}

/// Decides. What nobody has asked for is said.
pub(super) fn destination(named: Option<SystemName>, site: &Site, say: &mut dyn FnMut(&str)) -> Result<Destination, Fault> {
    let wanted = named.map(System::from).or(site.system).or(site.slurm.is_some().then_some(System::Slurm));
    if wanted == Some(System::Slurm) && !site::scheduler_is_there() {
        let message = "jobs are to go to Slurm, but its clients (sbatch, scontrol) are not on the search path";
        return Err(Fault::new("E0815", message).help("load the module or extend PATH; or run jobs on this machine with `--system local`"));
    }
    match (wanted, &site.slurm) {
        (Some(System::Local), _) => Ok(Destination::Local),
        (Some(System::Slurm), Some(cluster)) => Ok(Destination::Slurm(Box::new(cluster.clone()))),
        (Some(System::Slurm), None) => Ok(Destination::Slurm(Box::new(site::detect()?))),
        (None, _) if !site::scheduler_is_there() => Ok(Destination::Local),
        (None, _) => match site::detect() {
            Ok(cluster) => {
                let name = cluster.name.as_ref().map_or_else(String::new, |name| format!(" `{name}`"));
                say(&format!("jobs go to the Slurm cluster{name}, which is here; `--system local` runs them on this machine"));
                Ok(Destination::Slurm(Box::new(cluster)))
            }
            // its clients are installed, as on many a laptop, and nothing else
            Err(fault) if site::is_unconfigured(&fault) => Ok(Destination::Local),
            // a cluster that does not answer is no reason to compute on its login node
            Err(fault) => Err(fault),
        },
    }
}

impl From<SystemName> for System {
    fn from(name: SystemName) -> Self {
        match name {
            SystemName::Local => System::Local,
            SystemName::Slurm => System::Slurm,
        }
    }
}
