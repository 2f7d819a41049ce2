/** A run on the terminal until it has ended or waits for a person: each change, and what its model says meanwhile. */
import {
  commandErrors,
  isJsonObject,
  open,
  optional,
  parse,
  string,
  type CommandFlag,
  type CommandInput,
  type Frame,
  type Json,
} from '../../../../core/plugin.js'
import { tellAskedBelow } from './asked-below.js'
import { withHold } from './held-daemon.js'
import { showStreamed, watchCode } from './run-text.js'
import { createSpeechText } from './speech-text.js'
import { withToolFiles } from './tool-files.js'

/** The flag of commands that follow a run. */
export const following: Readonly<Record<string, CommandFlag>> = {
  deltas: {
    kind: 'switch',
    summary:
      'Follow the run, and show what the model says while it says it. A terminal does so by itself when it follows, ' +
      'unless the output is json.',
  },
}
/** Deltas are seen by whoever follows. */
export const follows = ({ flags }: Pick<CommandInput, 'flags'>): boolean =>
  flags['watch'] === true || flags['deltas'] === true

export const followingFields = { 'query.include': '--deltas' }

const listens = ({ attended, flags, output }: CommandInput): boolean =>
  flags['deltas'] === true || (attended && output === 'pretty')

/** A stream and how to end it. */
const openStream = async (input: CommandInput, path: string) => {
  const ended = new AbortController()
  const query = listens(input) ? '?include=deltas' : ''
  const frames = await input.client.stream(`${path}/stream${query}`, AbortSignal.any([input.signal, ended.signal]))
  return { frames, end: () => ended.abort() }
}

interface Followed {
  readonly run_id: string
  /** What is followed by it: a flow, or the run itself. */
  readonly about?: string
  /** The run as it is. */
  readonly first: Json
  readonly frames: AsyncIterable<Frame>
  readonly end: () => void
}

const runPath = (run_id: string): string => `/v1/runs/${encodeURIComponent(run_id)}`

/** Shows a run as it is and then each change, until it has ended or waits for a person. */
export const follow = async (input: CommandInput, run_id: string, about = run_id): Promise<void> => {
  const opened = await openStream(input, runPath(run_id))
  return showAll(input, {
    ...opened,
    run_id,
    about,
    first: await withHold(input, await input.client.get(runPath(run_id))),
  })
}

/** The same for a run that is submitted here: who hears its model hears it from the first word. */
export const followNew = async (
  input: CommandInput,
  session_id: string,
  submit: () => Promise<Json>,
): Promise<Json | void> => {
  if (!listens(input)) {
    const run = await submit()
    return isJsonObject(run) ? follow(input, String(run['run_id'])) : run
  }
  const opened = await openStream(input, `/v1/sessions/${encodeURIComponent(session_id)}`)
  try {
    const run = await submit()
    if (!isJsonObject(run)) return run
    return await showAll(input, { ...opened, run_id: String(run['run_id']), first: await withHold(input, run) })
  } finally {
    opened.end()
  }
}

const OfRun = open({
  run: optional(open({ run_id: string() })),
  output: optional(open({ run_id: optional(string()) })),
  trace: optional(open({ run_id: optional(string()) })),
})
/** True for what a stream of the run itself would have. */
const isOf = (run_id: string, { event, data }: Frame): boolean => {
  if (event === 'heartbeat' || event === 'stream_gap') return true
  const parsed = parse(OfRun, data)
  return parsed.ok && [parsed.value.run, parsed.value.output, parsed.value.trace].some((of) => of?.run_id === run_id)
}

const showAll = async (input: CommandInput, followed: Followed): Promise<void> => {
  const shown = createShow(input)
  const { about = followed.run_id, run_id: but } = followed
  const over = new AbortController()
  const signal = AbortSignal.any([input.signal, over.signal])
  const asked = input.output === 'json' ? undefined : tellAskedBelow(input, { about, but, print: shown.aside, signal })
  try {
    await showRun(input, followed, shown)
  } finally {
    over.abort()
    await asked
  }
}

const showRun = async (input: CommandInput, followed: Followed, { show, endLine }: Show): Promise<void> => {
  const { run_id, first, frames, end } = followed
  if (await show('run_updated', { run: first })) return end()
  for await (const frame of frames) if (isOf(run_id, frame) && (await show(frame.event, frame.data))) return end()
  endLine()
  if (input.signal.aborted) return input.exitWith(130)
  if (!(await show('run_updated', { run: await input.client.get(runPath(run_id)) })))
    throw commandErrors.stream_ended({ details: { run_id } })
}

interface Show {
  /** Shows a frame; true when there is nothing more to wait for. */
  show(event: string, data: Json): Promise<boolean>
  /** Shows what is not of the run itself. */
  aside(text: string): void
  endLine(): void
}

const createShow = (input: CommandInput): Show => {
  const { output, print, write, exitWith, attended, columns } = input
  const speech = createSpeechText(write, () => (attended ? columns() : Infinity))
  let last: string | undefined
  const textOf = (event: string, data: Json): string | undefined => {
    if (output === 'json') return JSON.stringify({ event, data })
    const text = speech.show(event, data) ? undefined : showStreamed(event, data)
    // A stream that began before its run tells of it what its submission told.
    return text === last && listens(input) ? undefined : text
  }
  /** Once it has ended, with all files. */
  const whole = async (event: string, data: Json): Promise<Json> =>
    isJsonObject(data) && watchCode(event, data) !== undefined
      ? { ...data, run: await withToolFiles(input, data['run'] ?? null) }
      : data
  const show = async (event: string, data: Json): Promise<boolean> => {
    const text = textOf(event, await whole(event, data))
    if (text !== undefined) {
      speech.end()
      print((last = text))
    }
    const code = watchCode(event, data)
    if (code !== undefined) exitWith(code)
    return code !== undefined
  }
  const aside = (text: string): void => {
    speech.end()
    print(text)
  }
  return { show, aside, endLine: speech.end }
}
