/** What MCP servers cost a start: a daemon with many of them beside one with none, in turns. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'

const fixture = fileURLToPath(new URL('../../support/mcp-server.js', import.meta.url))
const [servers, tools] = [40, 25]
/** Longest wait for all servers, milliseconds. */
const patienceMs = 120_000

const listOf = (count: number): string =>
  Array.from({ length: count }, (_, at) => {
    const args = JSON.stringify([fixture, JSON.stringify({ many: tools })])
    return `[mcp_servers.s${at}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`
  }).join('\n')

interface Start {
  readonly ms: number
  readonly cpu: number
  /** From the start to the last server. */
  readonly allMs: number
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

const startWith = async (count: number): Promise<Start> => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  if (count > 0) writeFileSync(join(root, 'config', 'mcp.toml'), listOf(count))
  const daemon = await startDaemon(root)
  const cpu = daemon.cpu()
  const allMs = count === 0 ? 0 : daemon.startMs + (await connectedAt(daemon.url, count))
  await daemon.stop()
  rmSync(root, { recursive: true })
  return { ms: daemon.startMs, cpu, allMs }
}

const measure = async ({ note, quick }: Bench): Promise<void> => {
  const rounds = quick ? 3 : 7
  const [none, many]: [Start[], Start[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    none.push(await startWith(0))
    many.push(await startWith(servers))
  }
  const of = (starts: readonly Start[], member: keyof Start): number => median(starts.map((start) => start[member]))
  const what = `${servers} MCP servers of ${tools} tools`
  note(`start with ${what}, beside none`, 'ms', 'less', of(many, 'ms'), of(none, 'ms'))
  note(`added to a start by ${what}`, 'ms', 'less', of(many, 'ms') - of(none, 'ms'))
  note(`CPU of a start with ${what}, beside none`, 'ms', 'less', of(many, 'cpu'), of(none, 'cpu'))
  note(`until all of ${what} are there`, 'ms', 'less', of(many, 'allMs'))
}

export const mcp: Part = { name: 'mcp', measure }
