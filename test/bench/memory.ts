/** Memory search over 10,000 learnings that a plugin in the root brings, against reading the same texts. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { readQuery, scoreOf } from '../../plugins/execution/memory/search/score.js'
import { quantile, send } from './load.js'
import type { Server } from './server.js'

const records = 10_000
const rounds = 20

/** The text of a record: eighty words, most of them from a few hundred, as people write. */
const contentSource = (n: number): string => {
  let seed = n + 1
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647)
  return `request ${Array.from({ length: 80 }, () => `word${(next() % 60) * (next() % 90)}`).join(' ')}`
}
/** A word of all, of many, of few and of none, a part of a word, and several words. */
const queries = ['request', 'word0', 'word5192', 'lighthouse', 'ord51', 'word12 word30 request learning']

/** Adds the plugin to a root that no daemon has opened yet. */
export const plantRecords = (root: string): void => {
  const folder = join(root, 'plugins', 'remembers')
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'remembers', version: '1.0.0', type: 'module', main: 'plugin.js', holdfast: { api: 1 } }),
  )
  writeFileSync(
    join(folder, 'plugin.js'),
    `
const contentOf = ${contentSource.toString()}
const learnings = Array.from({ length: ${records} }, (_, n) => ({
  learning_id: 'l' + n, scope: { kind: 'workspace', id: 'default' }, kind: 'fact', sensitivity: 'scoped', content: contentOf(n), published_at_ms: n,
  status: 'active', publish_tier: 'active', verification_status: 'verified',
}))
export default ({ definePlugin, object }) => definePlugin({
  id: 'remembers', version: '1.0.0', api: 1, summary: 'Brings learnings.', config: object({}),
  register(ctx) { ctx.contribute({ point: 'memory-sources@1' }, { id: 'remembers', learnings: () => learnings }) },
})
`,
  )
  writeFileSync(join(root, 'config', 'plugins.toml'), '[remembers]\nfrom = "state:remembers"\n')
}

const ask = async (url: string): Promise<number> => {
  const begin = performance.now()
  await (await request(url)).body.dump()
  return performance.now() - begin
}

export interface MemoryFigures {
  readonly p50: number
  readonly p99: number
  readonly build: number
  readonly blocked: number
  readonly readP50: number
}

/** `build` is the first search, which makes the index; `blocked` the longest that another request waited meanwhile. */
export const measureMemory = async ({ url }: Server): Promise<MemoryFigures> => {
  await send(`${url}/v1/sessions`, { session_id: 'm' })
  const search = (query: string): Promise<number> =>
    ask(`${url}/v1/sessions/m/memory-search?query=${encodeURIComponent(query)}`)
  let building = true
  const first = search('nothing').finally(() => {
    building = false
  })
  let blocked = 0
  while (building) blocked = Math.max(blocked, await ask(`${url}/healthz`))
  const build = await first
  const times: number[] = []
  const reads: number[] = []
  const documents = Array.from({ length: records }, (_, n) => ({
    content: contentSource(n),
    kind: 'fact',
    scope: 'workspace',
  }))
  for (let round = 0; round < rounds; round += 1) for (const query of queries) times.push(await search(query))
  for (const query of queries) {
    const begin = performance.now()
    const asked = readQuery(query)
    if (asked !== undefined)
      documents
        .map((document) => scoreOf(document, asked))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score)
    reads.push(performance.now() - begin)
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), build, blocked, readP50: quantile(reads, 0.5) }
}
