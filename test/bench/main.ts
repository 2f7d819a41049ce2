/**
 * Measures this daemon against the floor, both in one run on one machine, in
 * turns, and prints medians and ratios: `npm run bench [-- --quick] [--only
 * PART] [--runs N]`. Writes the figures as JSON to the path after `--json`; `--runs` is the size of the largest history.
 */
import { writeFileSync } from 'node:fs'
import type { Bench, Part, Row } from './bench.js'
import { numberOf, valueOf } from './flags.js'
import { agents } from './parts/agents.js'
import { bodies } from './parts/bodies.js'
import { capture } from './parts/capture.js'
import { channels } from './parts/channels.js'
import { deliveries } from './parts/deliveries.js'
import { history } from './parts/history.js'
import { ingress } from './parts/ingress.js'
import { live } from './parts/live.js'
import { mcp } from './parts/mcp.js'
import { memory } from './parts/memory.js'
import { model } from './parts/model.js'
import { schedules } from './parts/schedules.js'
import { spawn } from './parts/spawn.js'
import { start } from './parts/start.js'
import { storage } from './parts/storage.js'
import { wires } from './parts/wires.js'
import { worst } from './parts/worst.js'

const parts: readonly Part[] = [
  start,
  live,
  model,
  wires,
  capture,
  ingress,
  deliveries,
  schedules,
  storage,
  history,
  memory,
  worst,
  spawn,
  bodies,
  mcp,
  agents,
  channels,
]

if (process.argv.includes('--help')) {
  process.stdout.write(`main.js [--quick] [--only PART] [--runs N] [--json FILE]\n`)
  process.stdout.write(`PART: ${parts.map(({ name }) => name).join(', ')}\n`)
  process.exit(0)
}

const rows: Row[] = []
const note: Bench['note'] = (what, unit, better, holdfast, floor) => {
  rows.push({ what, unit, better, holdfast, ...(floor !== undefined && { floor, ratio: holdfast / floor }) })
  const beside = floor === undefined ? '' : `   floor ${floor.toFixed(2)}   ratio ${(holdfast / floor).toFixed(2)}`
  process.stdout.write(`${what.padEnd(48)} ${holdfast.toFixed(2).padStart(10)} ${unit.padEnd(6)}${beside}\n`)
}

const quick = process.argv.includes('--quick')
const bench: Bench = {
  note,
  quick,
  rounds: quick ? 1 : 3,
  milliseconds: quick ? 1500 : 4000,
  runs: numberOf('--runs'),
}
const only = valueOf('--only')
const wanted = parts.filter(({ name }) => only === undefined || only === name)
if (wanted.length === 0) {
  process.stderr.write(`no part is called ${only}: ${parts.map(({ name }) => name).join(', ')}\n`)
  process.exit(2)
}

process.stdout.write(`node ${process.version}, ${bench.rounds} rounds in turns, medians\n`)
for (const part of wanted) await part.measure(bench)
const path = valueOf('--json')
if (path !== undefined) writeFileSync(path, `${JSON.stringify(rows, null, 2)}\n`)
process.exit(0)
