/** Streams that break off, at every boundary of what each protocol sends, under a real run whose model calls a tool. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { bytesOf, startOpenAiServer, type Asked, type Reply, type StreamReply } from '../../../support/openai-server.js'
import { openSession, until } from '../../../support/runs.js'
import { vendors, type Vendor } from '../../../support/vendors.js'
import { partOf } from '../../../support/volume.js'

/** Grok is asked by the protocol of OpenAI. */
const grok = vendors.filter(({ provider }) => provider === 'openai').map((vendor) => ({ ...vendor, provider: 'xai' }))

/** The number of bytes behind which an answer breaks off, in as many letters as any other. */
const named = (bytes: number): string => String(bytes).padStart(6, '0')

const acting = (vendor: Vendor, bytes: number): StreamReply => {
  const command = `echo done >> effect-${named(bytes)}`
  const reply = vendor.calling({ id: 'call_e', name: 'bash', input: JSON.stringify({ command }) })
  return reply.type === 'stream' ? reply : { type: 'stream', chunks: [] }
}

const textOf = (vendor: Vendor): string => bytesOf(acting(vendor, 0).chunks).toString('latin1')

/** In front of each line end and behind it, and in the middle between two. */
const boundaries = (text: string): number[] => {
  const ends = [...text.matchAll(/\n+/gu)].flatMap(({ index, 0: { length } }) => [index, index + length])
  const all = [0, ...ends]
  const middles = ends.map((at, n) => Math.floor((at + (all[n] ?? 0)) / 2))
  return [...new Set([...all, ...middles])].filter((at) => at < text.length).toSorted((a, b) => a - b)
}

/** Where the model says that it has ended: before it an answer is none, behind it one that is whole. */
const endIn = (text: string): { readonly begins: number; readonly ends: number } => {
  const begins = text.search(/"(?:finish_reason":"|stop_reason":"|finishReason":"|type":"response\.completed")/u)
  return { begins, ends: text.indexOf('\n\n', begins) + 2 }
}

const bytesIn = (asked: Asked): number => Number(/cut at (\d+)/u.exec(JSON.stringify(asked.body))?.[1])

const setUp = async (t: ExecutionContext, vendor: Vendor, respond: (asked: Asked, workspace: string) => Reply) => {
  const [root, workspace] = [await freshRoot(), await freshRoot()]
  const server = await startOpenAiServer((asked) => respond(asked, workspace))
  t.teardown(() => server.close())
  t.teardown(() => [root, workspace].forEach((path) => rmSync(path, { recursive: true, force: true })))
  for (const path of [join(root, 'config'), workspace]) mkdirSync(path, { recursive: true })
  writeFileSync(
    join(root, 'config/routes.toml'),
    `[routes.one]\ndriver = "${vendor.provider}"\nbase_url = "${server.url}"\nmodel_support = "any"\n` +
      'default_model = "m"\napi_key = "k"\n',
  )
  const daemon = await startTestDaemon(t, {
    root,
    flags: { 'workspace-root': workspace },
    config: { tools: { permission_mode: 'bypassPermissions' } },
  })
  return { daemon, workspace }
}

for (const vendor of [...vendors, ...grok.slice(0, partOf(0, 1))])
  for (const how of ['end', 'destroy'] as const)
    test.serial(
      `models-16: with ${vendor.provider} a stream that breaks off at any boundary (${how}) acts on nothing, and its run acts once`,
      async (t) => {
        const cuts = new Set<number>()
        /** Runs that were asked again behind a cut, and whether the cut answer had acted then. */
        const again = new Map<number, boolean>()
        const { daemon, workspace } = await setUp(t, vendor, (asked, folder) => {
          if (vendor.told(asked).at(-1)?.startsWith('result') === true) return vendor.saying('Acted.')
          const bytes = bytesIn(asked)
          const whole = acting(vendor, bytes)
          if (cuts.has(bytes)) again.set(bytes, existsSync(join(folder, `effect-${named(bytes)}`)))
          else cuts.add(bytes)
          return again.has(bytes) ? whole : { ...whole, cut: { bytes, how } }
        })
        const all = boundaries(textOf(vendor))
        const end = endIn(textOf(vendor))
        t.true(all.length >= 8 && end.begins > 0, `${all.length} boundaries`)
        await Promise.all(
          all.map(async (bytes) => {
            await openSession(daemon, `s${bytes}`)
            const { body } = await daemon.request('POST', `/v1/sessions/s${bytes}/runs`, { content: `cut at ${bytes}` })
            const run = await until(daemon, body.run_id, 'completed', 'failed')
            t.is(run.outputs?.at(-1)?.content, 'Acted.', `${bytes}: ${run.error}`)
            t.is(readFileSync(join(workspace, `effect-${named(bytes)}`), 'utf8'), 'done\n', `${bytes}: one effect`)
            if (bytes <= end.begins) t.is(again.get(bytes), false, `${bytes}: a part of an answer acted or counted`)
            else if (bytes >= end.ends) t.false(again.has(bytes), `${bytes}: what was whole was asked for again`)
          }),
        )
      },
    )
