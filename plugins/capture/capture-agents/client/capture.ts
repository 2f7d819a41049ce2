/** `holdfast capture`: takes what the sources of an agent see, and brings it to its daemon. */
import { homedir } from 'node:os'
import path from 'node:path'
import { commandErrors, count, type CommandInput, type Lasting } from '../../../../core/plugin.js'
import type { AgentFile } from './agent-file.js'
import { runPulse } from './pulse.js'
import { readAgentFile } from './read-file.js'
import { keepRhythm } from './rhythm.js'
import { openSpool, toldOfSpool, type Spool } from './spool.js'
import { createTelling, type Telling } from './telling.js'
import { createUploads } from './upload.js'
import { checkWays, createWay, wished } from './ways.js'

type Input = Pick<CommandInput, 'flags' | 'output' | 'print' | 'now' | 'reach' | 'signal' | 'lasting' | 'exitWith'>
interface Work {
  readonly input: Input
  readonly tools: Lasting
  readonly file: AgentFile
  readonly spool: Spool
  readonly telling: Telling
}

/** Attempts in a row after which a capture that is made once leaves the rest in the spool. */
const patienceOnce = 5

const textOf = ({ flags }: Input, flag: string): string | undefined => {
  const value = flags[flag]
  return typeof value === 'string' ? value : undefined
}
const spoolOf = (input: Input, { spool, capture_agent: { machine_id } }: AgentFile): string => {
  const given = textOf(input, 'spool')
  if (given !== undefined) return path.resolve(given)
  const root = spool.root_dir.replace(/^~(?=$|[/\\])/u, homedir())
  return path.resolve(homedir(), root, machine_id)
}

/** Ends everything when one thing ends for good: resolves when all of it has ended, rejects with what went wrong. */
const together = async (end: AbortController, works: readonly Promise<unknown>[]): Promise<void> => {
  const ending = works.map((work) =>
    work.catch((error: unknown) => {
      end.abort()
      throw error
    }),
  )
  const outcomes = await Promise.allSettled(ending)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** Resolves when it is over: the person ended it, or all sources have and nothing waits any more. */
const work = async ({ input, tools, file, spool, telling }: Work): Promise<void> => {
  const end = new AbortController()
  const signal = AbortSignal.any([input.signal, end.signal])
  const once = input.flags['once'] === true
  const parts = { file, tools, telling, spool, reach: (url: string, ms: number) => input.reach(url, ms), signal }
  const unwell = new Set<string>()
  const uploads = createUploads(parts)
  const observed = (): string[] => [
    ...new Set(file.sources.filter(({ stream_id }) => !unwell.has(stream_id)).map(({ source_id }) => source_id)),
  ]
  const taking = file.sources.map((source) =>
    keepRhythm({
      trigger: source.trigger,
      way: createWay({ ...parts, source }),
      clock: tools.clock,
      once,
      signal,
      saw: (isWell) => void (isWell ? unwell.delete(source.stream_id) : unwell.add(source.stream_id)),
    }),
  )
  const takeAll = async (): Promise<void> => {
    const ends = await Promise.all(taking)
    await uploads.emptied(once ? patienceOnce : Infinity)
    const isAll = !ends.includes(false) && (!once || spool.waiting().length === 0)
    if (!isAll && !signal.aborted) input.exitWith(1)
    end.abort()
  }
  await together(end, [takeAll(), uploads.run(), runPulse({ ...parts, observed })]).finally(() => {
    const left = spool.waiting().length
    const waits = left === 0 ? 'nothing waits' : `${count(left, 'capture')} waiting in ${spool.folder}`
    telling.say('ended', `Ended: ${count(uploads.sent(), 'capture')} sent, ${waits}.`)
  })
}

/** A token that goes over a network as it is can be read there. */
const warnOfPlain = ({ daemon: { base_url } }: AgentFile, telling: Telling): void => {
  const { protocol, hostname } = new URL(base_url)
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u.test(hostname)
  if (protocol === 'http:' && !isHere)
    telling.say(
      'plain',
      `The tokens go to ${base_url} without encryption: use an https address outside of this machine.`,
    )
}

export const capture = async (input: Input): Promise<void> => {
  if (textOf(input, 'command') !== undefined && textOf(input, 'folder') !== undefined)
    throw commandErrors.flags_together({ details: { flag: 'command', other: 'folder' } })
  const file = wished(readAgentFile(textOf(input, 'config') ?? ''), {
    source: textOf(input, 'source'),
    command: textOf(input, 'command'),
    folder: textOf(input, 'folder') && path.resolve(textOf(input, 'folder') ?? ''),
  })
  checkWays(file)
  const telling = createTelling(input)
  warnOfPlain(file, telling)
  await input.lasting(async (tools) => {
    const folder = spoolOf(input, file)
    const { max_pending_items: items, max_pending_bytes: bytes } = file.spool
    const spool = await openSpool({ tools, folder, most: { items, bytes } })
    try {
      const left = spool.waiting().length
      if (left > 0) telling.say('resumed', `Of an earlier time: ${count(left, 'capture')} in ${folder}.`)
      await work({ input, tools, file, spool, telling })
    } catch (error) {
      throw toldOfSpool(folder, error)
    } finally {
      await spool.close()
    }
  })
}
