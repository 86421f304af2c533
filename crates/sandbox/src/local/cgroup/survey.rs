//! Finds the groups below which we may create our own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use super::{Controller, Groups, Place, SERVER_GROUP, Version};

/// Version 1's name of the controller that counts processor time.
const ACCOUNTING: &str = "cpuacct";

pub(super) fn survey() -> Groups {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut groups = Groups::default();
    for controller in Controller::ALL {
        match find(controller, &mounts, &memberships) {
            Ok((version, parent)) => {
                let known = groups
                    .places
                    .iter_mut()
                    .find(|place| place.parent == parent);
                if let Some(place) = known {
                    place.controllers.push(controller);
                } else {
                    groups.places.push(Place {
                        version,
                        parent,
                        controllers: vec![controller],
                    });
                }
            }
            Err(reason) => groups.missing.push((controller, reason)),
        }
    }
    groups
        .places
        .extend(accounting(&groups, &mounts, &memberships));
    groups
}

/// Returns the place for counting processor time, if version 1 counts it in another tree than it limits it.
fn accounting(groups: &Groups, mounts: &str, memberships: &str) -> Option<Place> {
    let parent = own_group(mounts, memberships, Some(ACCOUNTING))?;
    let is_needed = groups.version_of(Controller::Cpu) == Some(Version::One)
        && groups.places.iter().all(|place| place.parent != parent);
    (is_needed && may_make_groups(&parent).is_ok()).then(|| Place {
        version: Version::One,
        parent,
        controllers: Vec::new(),
    })
}

/// Returns the usable group for a controller, or the reason why there is none.
fn find(
    controller: Controller,
    mounts: &str,
    memberships: &str,
) -> Result<(Version, PathBuf), String> {
    if let Some(own) = own_group(mounts, memberships, None) {
        let own = if own.ends_with(SERVER_GROUP) {
            own.parent().map_or_else(|| own.clone(), Path::to_owned)
        } else {
            own
        };
        let offered = fs::read_to_string(own.join("cgroup.controllers")).unwrap_or_default();
        if offered
            .split_whitespace()
            .any(|name| name == controller.name())
        {
            may_make_groups(&own)?;
            may_hand_on(&own)?;
            return Ok((Version::Two, own));
        }
    }
    let Some(own) = own_group(mounts, memberships, Some(controller.name())) else {
        return Err(format!(
            "no control group of the server has the controller {}",
            controller.name()
        ));
    };
    may_make_groups(&own)?;
    Ok((Version::One, own))
}

/// Returns the folder of this process's group: in version 2, or in version 1 for the named controller.
fn own_group(mounts: &str, memberships: &str, name: Option<&str>) -> Option<PathBuf> {
    let path = memberships.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_it = match name {
            None => controllers.is_empty(),
            Some(name) => controllers.split(',').any(|controller| controller == name),
        };
        is_it.then_some(path)
    })?;
    mounts.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let mut source = source.split(' ');
        let kind = source.next()?;
        let options = source.nth(1)?;
        let is_it = match name {
            None => kind == "cgroup2",
            Some(name) => kind == "cgroup" && options.split(',').any(|option| option == name),
        };
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?, mount.next()?);
        // In a container, the mount may show only a part of the tree.
        let below = Path::new(path).strip_prefix(root).ok()?;
        is_it.then(|| Path::new(point).join(below))
    })
}

fn may_make_groups(own: &Path) -> Result<(), String> {
    access(own, Access::WRITE_OK).map_err(|error| {
        format!(
            "the server may not make control groups in {}: {error}",
            own.display()
        )
    })
}

/// Checks that the controllers can be passed on to child groups.
///
/// In version 2 that requires the root group, or a group without other processes than the server.
fn may_hand_on(own: &Path) -> Result<(), String> {
    let switch = own.join("cgroup.subtree_control");
    access(&switch, Access::WRITE_OK)
        .map_err(|error| format!("{} cannot be written: {error}", switch.display()))?;
    let is_root_group = !own.join("cgroup.type").exists();
    let members = fs::read_to_string(own.join("cgroup.procs")).unwrap_or_default();
    let own_pid = std::process::id().to_string();
    let is_alone = members.lines().all(|member| member == own_pid);
    if is_root_group || is_alone {
        Ok(())
    } else {
        Err(format!(
            "other processes share the server's control group {}: start the server with \
             `systemd-run --user --scope -p Delegate=yes`",
            own.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
30 20 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
    const MEMBERSHIPS: &str = "\
4:memory:/docker/abc/inner
3:cpu,cpuacct:/
0::/user.slice/run-1.scope";

    #[test]
    fn own_groups_are_found_in_every_kind_of_tree() {
        for (controller, expected) in [
            (None, Some("/sys/fs/cgroup/unified/user.slice/run-1.scope")),
            (
                Some(Controller::Memory),
                Some("/sys/fs/cgroup/memory/inner"),
            ),
            (Some(Controller::Cpu), Some("/sys/fs/cgroup/cpu,cpuacct/")),
            (Some(Controller::Processes), None),
        ] {
            let found = own_group(MOUNTS, MEMBERSHIPS, controller.map(Controller::name));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{controller:?}");
        }
    }
}
