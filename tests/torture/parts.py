"""All parts, by name, in the order in which they are shown."""

from torture import crowds, damage, failures, frames, kills, life, loads, readers

PARTS = {
    part.name: part
    for module in (kills, loads, failures, damage, readers, frames, life, crowds)
    for part in module.PARTS
}
