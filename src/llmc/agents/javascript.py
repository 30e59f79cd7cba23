"""The part of a plugin that writes reports into the spool, for CLIs that load JavaScript."""

from __future__ import annotations

REPORT = """\
// Drops reports of this session into LLMC's spool: each file appears whole, under its final name, or not at all.
import { renameSync, writeFileSync } from "fs"
const spool = process.env.LLMC_SPOOL
const session = process.env.LLMC_SESSION || ""
let count = 0
const report = (event, more) => {
  if (!spool) return
  try {
    const name = `${Date.now()}${String(process.hrtime.bigint() % 1000000n).padStart(6, "0")}-${process.pid}-${count++}`
    writeFileSync(`${spool}/.${name}`, JSON.stringify({ event, session, at: Date.now() / 1000, ...more }))
    renameSync(`${spool}/.${name}`, `${spool}/${name}.json`)
  } catch (e) {}
}
"""
