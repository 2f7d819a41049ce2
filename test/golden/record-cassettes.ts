/**
 * Makes a cassette for each of the four protocols: a run that calls a tool, recorded from a local server that sends its
 * answers in pieces of a few bytes. `node dist/test/golden/record-cassettes.js` writes them anew. Of requests only the
 * conversation is kept, so that another tool or another word in a prompt is no difference.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type Json } from '../../core/plugin.js'
import { spawnDaemon, freshRoot } from '../support/daemon.js'
import { startOpenAiServer, type Reply } from '../support/openai-server.js'
import { openSession, submit, until } from '../support/runs.js'
import { vendors, type Vendor } from '../support/vendors.js'

export const told = 'Which skills are there? Ein Gruß: 漢字 🙂'
export const answered = 'Keine, schöne Grüße: 漢字 🙂'
export const cassetteOf = ({ provider }: Pick<Vendor, 'provider'>): string =>
  join(process.cwd(), `test/golden/cassettes/${provider}.cassette`)

/** Cuts within words, events and characters. */
const dripped = (reply: Reply): Reply => (reply.type === 'stream' ? { ...reply, drip_bytes: 7 } : reply)

/** Who said what in which order, and what it was. */
const conversation = ['messages', 'contents', 'input', 'model', 'stream']

const partOf = (line: string): string[] => {
  const value: Json = JSON.parse(line)
  if (!isJsonObject(value)) return []
  if (value['cassette'] !== undefined) return [JSON.stringify({ ...value, requests: 'part' })]
  const { request, headers: _, ...rest } = value
  if (request === undefined || !isJsonObject(request)) return [line]
  const kept = Object.fromEntries(Object.entries(request).filter(([name]) => conversation.includes(name)))
  return [JSON.stringify({ path: rest['path'], request: withoutSystem(kept), ...rest })]
}

/** What the daemon tells first is not what the cassette is about. */
const withoutSystem = (request: Record<string, Json | undefined>): Json =>
  JSON.parse(
    JSON.stringify(request, (_, value: Json) =>
      isJsonObject(value) && value['role'] === 'system' ? { role: 'system' } : value,
    ),
  )

const record = async (vendor: Vendor): Promise<void> => {
  const root = await freshRoot()
  const file = join(root, 'made.cassette')
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const server = await startOpenAiServer((question) =>
    dripped(
      vendor.told(question).some((line) => line.startsWith('result'))
        ? vendor.saying(...answered.split(/(?<= )/u))
        : vendor.calling({ id: 'call_1', name: 'list_skills', input: '{}' }),
    ),
  )
  const daemon = await spawnDaemon({
    flags: [
      ['--provider', vendor.provider, '--provider-base-url', server.url, '--model', 'm', '--api-key', 'none'],
      ['--record-cassette', file],
    ].flat(),
  })
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', told)).run_id, 'completed')
  await daemon.stop()
  await server.close()
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').flatMap(partOf)
  writeFileSync(cassetteOf(vendor), `${lines.join('\n')}\n`)
  for (const path of [root, daemon.root]) rmSync(path, { recursive: true, force: true })
}

if (process.argv[1]?.endsWith('record-cassettes.js') === true) for (const vendor of vendors) await record(vendor)
