/** What MCP servers cost a start: a daemon with many of them beside one with none, in turns. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'

const fixture = fileURLToPath(new URL('../../support/mcp-server.js', import.meta.url))
const [servers, tools] = [40, 25]
/** Pairs of starts; in so many of them it is waited for all servers, which costs a hundred times what a start does. */
const [pairs, whole] = [11, 3]
/** Longest wait for all servers, milliseconds. */
const patienceMs = 120_000

const listOf = (count: number): string =>
  Array.from({ length: count }, (_, at) => {
    const args = JSON.stringify([fixture, JSON.stringify({ many: tools })])
    return `[mcp_servers.s${at}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`
  }).join('\n')

/** Milliseconds. */
interface Start {
  readonly wall: number
  readonly cpu: number
  /** From the start to the last server, and what the daemon used until then. */
  readonly all?: { readonly wall: number; readonly cpu: number }
}

const connectedAt = async (url: string, count: number): Promise<number> => {
  const begin = performance.now()
  while (performance.now() - begin < patienceMs) {
    const { mcp } = (await (await fetch(`${url}/v1/status`)).json()) as { mcp: { tool_count: number } }
    if (mcp.tool_count >= count * tools) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return performance.now() - begin
}

const startWith = async (count: number, isWhole: boolean): Promise<Start> => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  if (count > 0) writeFileSync(join(root, 'config', 'mcp.toml'), listOf(count))
  execFileSync('sync')
  const daemon = await startDaemon(root)
  const [wall, cpu] = [daemon.startMs, daemon.cpu()]
  const all = isWhole && { wall: wall + (await connectedAt(daemon.url, count)), cpu: daemon.cpu() }
  await daemon.stop()
  rmSync(root, { recursive: true })
  return { wall, cpu, ...(all !== false && { all }) }
}

interface Pair {
  readonly none: Start
  readonly many: Start
}

/** Which of the two is first alternates: what a machine does meanwhile falls on both. */
const startPair = async (round: number): Promise<Pair> => {
  const startMany = (): Promise<Start> => startWith(servers, round < whole)
  if (round % 2 === 1) {
    const many = await startMany()
    return { many, none: await startWith(0, false) }
  }
  const none = await startWith(0, false)
  return { none, many: await startMany() }
}

const measure = async ({ note, quick }: Bench): Promise<void> => {
  const found: Pair[] = []
  for (let round = 0; round < (quick ? whole : pairs); round += 1) found.push(await startPair(round))
  const of = (value: (pair: Pair) => number): number => median(found.map(value))
  const what = `${servers} MCP servers of ${tools} tools`
  for (const [name, key] of [
    ['a start', 'wall'],
    ['CPU of a start', 'cpu'],
  ] as const) {
    note(
      `${name} with ${what}, beside none`,
      'ms',
      'less',
      of(({ many }) => many[key]),
      of(({ none }) => none[key]),
    )
    note(
      `added to ${name} by ${what}`,
      'ms',
      'less',
      of(({ many, none }) => many[key] - none[key]),
    )
  }
  const all = found.flatMap(({ many }) => many.all ?? [])
  note(`until all of ${what} are there`, 'ms', 'less', median(all.map(({ wall }) => wall)))
  note(`CPU of the daemon until then`, 'ms', 'less', median(all.map(({ cpu }) => cpu)))
}

export const mcp: Part = { name: 'mcp', measure }
