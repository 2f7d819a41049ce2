/** The conversation: what a person says goes to the session, or does something here. */
import {
  array,
  boolean,
  commandLine,
  isJsonObject,
  nearest,
  number,
  open,
  optional,
  parse,
  Problem,
  string,
  visibleLine,
  type Json,
  type Said,
} from '../../../../core/plugin.js'
import { fileText, givenFile, type UploadBody } from '../../../media/assets/contract.js'
import { filesOf, RunAnswer, type RunRow } from '../terminal/run-text.js'
import { chooseModel, modelText, readModel, strangeRoute } from './chosen-model.js'
import { createElsewhere, type Elsewhere } from './elsewhere.js'
import { sessionPath } from './journal.js'
import { watchRun, type Conversation, type Watched, type Watching } from './watch.js'

const Session = open({
  session_id: string(),
  ended_at_ms: optional(number()),
  snapshot: open({ journal_len: number() }),
})
const Runs = array(RunAnswer)

interface Talk extends Conversation {
  session_id: string
  /** The run that was last talked about. */
  last: string | undefined
  code: number
  /** Files that go with the next message. */
  files: UploadBody[]
  /** Runs that others begin in the session, where a person can see them. */
  readonly elsewhere: Elsewhere | undefined
  /** Messages so far, for keys. */
  said: number
}

const prompt = '> '

const help = [
  'A line is a message. A \\ at its end, or pasting, makes it go on in the next line.',
  '/model [NAME]  which model answers; MODEL, ROUTE or ROUTE/MODEL chooses another for this session',
  '/attach FILE   gives a file along with the next message',
  '/compact       sums up the older part of what was said, for the model; /compact WHAT says what to keep',
  '/new           begins another session',
  '/retry         makes the last run anew',
  '/status        how this session and the daemon are',
  '/quit          leaves; so do Ctrl-D, and Ctrl-C where nothing is typed',
  'Ctrl-C while the model works interrupts the run. // at the beginning sends a message that begins with /.',
].join('\n')

const backText = (session_id: string): string => `Come back with: ${visibleLine(commandLine('chat', session_id))}`

const enter = async (talk: Talk, wanted: string | undefined): Promise<void> => {
  const { client } = talk.input
  const known = wanted === undefined ? undefined : await find(talk, wanted)
  const isNew = known === undefined || known.ended_at_ms !== undefined
  const answer = isNew
    ? await client.send('POST', '/v1/sessions', wanted === undefined ? {} : { session_id: wanted })
    : null
  const session_id = known?.session_id ?? (isJsonObject(answer) ? String(answer['session_id']) : '')
  talk.session_id = session_id
  talk.last = undefined
  await talk.elsewhere?.begin(session_id)
  const what = known === undefined ? 'New session' : isNew ? 'Session, open again:' : 'Session'
  talk.sheet.line(`${what} ${visibleLine(session_id)}. ${known === undefined ? backText(session_id) : ''}`.trim())
}

const find = async ({ input: { client } }: Talk, session_id: string) => {
  try {
    const parsed = parse(Session, await client.get(sessionPath(session_id)))
    return parsed.ok ? parsed.value : undefined
  } catch (error) {
    if (error instanceof Problem && error.code === 'session_not_found') return undefined
    throw error
  }
}

const showModel = async (talk: Talk): Promise<void> => {
  const now = await readModel(talk.input.client, talk.session_id)
  if (now === undefined) return
  talk.sheet.line(`Model ${modelText(now)}.${now.trouble === undefined ? '' : ` ${visibleLine(now.trouble)}`}`)
}

const model = async (talk: Talk, name: string): Promise<void> => {
  const { client } = talk.input
  if (name !== '') await chooseModel(client, talk.session_id, name)
  await showModel(talk)
  const strange = name === '' ? undefined : strangeRoute(await readModel(client, talk.session_id), name)
  if (strange !== undefined)
    talk.sheet.line(`No route is called ${visibleLine(strange)}: all of it was taken for a model.`)
  const now = name === '' ? await readModel(client, talk.session_id) : undefined
  if (now !== undefined) talk.sheet.line(`There are ${now.routes.map(modelText).join(', ')}. /model NAME chooses.`)
}

const Status = open({ status: string(), health: open({ warnings: optional(array(open({ message: string() }))) }) })
const Usage = open({ usage: optional(open({ input_tokens: number(), output_tokens: number() })) })

const status = async (talk: Talk): Promise<void> => {
  const { input, sheet, session_id, last } = talk
  const { client } = input
  const daemon = parse(Status, await client.get('/v1/status'))
  sheet.line(`Session ${visibleLine(session_id)}. ${backText(session_id)}`)
  await showModel(talk)
  const now = await readModel(client, session_id)
  if (now?.permission_mode !== undefined) sheet.line(`Permission mode ${visibleLine(now.permission_mode)}.`)
  const run = last === undefined ? undefined : parse(Usage, await client.get(`/v1/runs/${encodeURIComponent(last)}`))
  if (run?.ok === true && run.value.usage !== undefined)
    sheet.line(`Last run: ${run.value.usage.input_tokens} tokens in, ${run.value.usage.output_tokens} out.`)
  if (!daemon.ok) return
  sheet.line(`The daemon at ${client.baseUrl} is ${visibleLine(daemon.value.status)}.`)
  for (const { message } of daemon.value.health.warnings ?? []) sheet.line(`  ${visibleLine(message)}`)
}

const codes = new Map([
  ['completed', 0],
  ['interrupted', 130],
])

/** Follows a run; the exit code where the person left. */
const watch = async (talk: Talk, watched: Omit<Watched, 'session_id'>): Promise<number | undefined> => {
  const watching: Watching = await watchRun(talk, { session_id: talk.session_id, ...watched })
  if (watching.type === 'ended') {
    talk.elsewhere?.shown(watching.run.run_id)
    if (watched.isOfOthers === true) return undefined
    talk.last = watching.run.run_id
    talk.code = watching.isGivenUp ? 1 : (codes.get(watching.run.status) ?? 1)
    return undefined
  }
  if (watched.isOfOthers === true && watching.code === 130 && !talk.input.signal.aborted)
    return void talk.sheet.line('It goes on, and is not shown here any more.')
  talk.sheet.line(`What runs goes on without you. ${backText(talk.session_id)}`)
  return watching.code
}

/** Entries of the journal so far: a run that is submitted now is behind them. */
const journalEnd = async (talk: Talk): Promise<number> => (await find(talk, talk.session_id))?.snapshot.journal_len ?? 0

const say = async (talk: Talk, content: string): Promise<number | undefined> => {
  const { client, now } = talk.input
  talk.said += 1
  const headers = { 'idempotency-key': `chat-${process.pid}-${now()}-${talk.said}` }
  const attachments = talk.files.map((file) => ({ ...file }))
  // One that is refused would hold up every message after it.
  talk.files = []
  const body = { content, ...(attachments.length > 0 && { attachments }) }
  const submit = (): Promise<Json> => client.send('POST', `${sessionPath(talk.session_id)}/runs`, body, headers)
  return watch(talk, { submit, after: () => journalEnd(talk) })
}

const attach = async (talk: Talk, file: string): Promise<void> => {
  if (file === '') return talk.sheet.line('Say which file: /attach FILE')
  const given = givenFile(file)
  talk.files.push(given)
  talk.sheet.line(`${visibleLine(given.file_name)}, ${given.media_type}, goes with the next message.`)
}

const retry = async (talk: Talk): Promise<number | undefined> => {
  const { last } = talk
  if (last === undefined) return void talk.sheet.line('There is no run here to make anew.')
  const run = parse(RunAnswer, await talk.input.client.get(`/v1/runs/${encodeURIComponent(last)}`))
  if (run.ok && run.value.status === 'completed')
    return void talk.sheet.line('The last run is completed: there is nothing to make anew. Up brings a message back.')
  const headers = { 'idempotency-key': `chat-${process.pid}-${talk.input.now()}-retry` }
  const submit = (): Promise<Json> =>
    talk.input.client.send('POST', `/v1/runs/${encodeURIComponent(last)}/retry`, {}, headers)
  return watch(talk, { submit, after: () => journalEnd(talk) })
}

const askedText = ({ request }: RunRow): string => visibleLine((request.text_preview ?? '').replaceAll(/\s+/gu, ' '))

/** A run that others began, from its beginning: what it asks is asked here too. */
const follow = (talk: Talk, run: RunRow): Promise<number | undefined> => {
  talk.elsewhere?.shown(run.run_id)
  talk.sheet.line(`From elsewhere: ${askedText(run)}`)
  const submit = (): Promise<Json> => talk.input.client.get(`/v1/runs/${encodeURIComponent(run.run_id)}`)
  return watch(talk, { submit, after: () => Promise.resolve(undefined), isOfOthers: true })
}

/** What the person says; or a run of others that began while nothing was said, with what was typed kept. */
const heard = async ({ dialogue, elsewhere }: Talk): Promise<Said | RunRow | undefined> => {
  if (elsewhere === undefined) return dialogue.hear(prompt, { remembered: true })
  const [over, taken] = [new AbortController(), new AbortController()]
  let run: RunRow | undefined
  const listening = elsewhere.next(over.signal).then((found) => {
    run = found
    if (found !== undefined) taken.abort()
  })
  const said = await dialogue.hear(prompt, { remembered: true, signal: taken.signal })
  over.abort()
  await listening
  return said ?? run
}

/** The run that is open when a person comes, is gone on with. */
const resume = async (talk: Talk): Promise<number | undefined> => {
  const query = new URLSearchParams({ session_id: talk.session_id, priority_active: 'true', limit: '1' })
  const parsed = parse(Runs, await talk.input.client.get(`/v1/runs?${query.toString()}`))
  const [run] = parsed.ok ? parsed.value : []
  if (run === undefined) return undefined
  talk.last = run.run_id
  talk.elsewhere?.shown(run.run_id)
  const open = ['queued', 'running', 'waiting_for_approval', 'waiting_for_user_question'].includes(run.status)
  if (!open && !talk.dialogue.attended) return undefined
  talk.sheet.line(`${prompt}${askedText(run)}`)
  const submit = (): Promise<Json> => talk.input.client.get(`/v1/runs/${encodeURIComponent(run.run_id)}`)
  if (open) return watch(talk, { submit, after: () => Promise.resolve(undefined) })
  for (const output of run.outputs ?? []) {
    talk.sheet.say(output.content)
    for (const file of filesOf(output)) talk.sheet.line(`  file ${fileText(file)}`)
  }
  talk.sheet.end()
  return undefined
}

const Compacted = open({
  compacted: boolean(),
  message: optional(string()),
  tokens_before: optional(number()),
  tokens_after: optional(number()),
})
const compact = async ({ input: { client }, session_id, sheet }: Talk, instructions: string): Promise<void> => {
  const body = instructions === '' ? {} : { instructions }
  const parsed = parse(Compacted, await client.send('POST', `${sessionPath(session_id)}/compact`, body))
  if (!parsed.ok) return
  const { compacted, message = '', tokens_before = 0, tokens_after = 0 } = parsed.value
  const text = compacted
    ? `Summed up: about ${tokens_before} tokens before, ${tokens_after} after.`
    : `Not summed up: ${message}`
  sheet.line(visibleLine(text))
}

type Act = (talk: Talk, rest: string) => Promise<number | undefined | void>

const acts: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['attach', attach],
  ['compact', compact],
  ['help', async ({ sheet }) => sheet.line(help)],
  ['model', model],
  ['new', async (talk) => enter(talk, undefined)],
  ['retry', retry],
  ['status', status],
])

/** A message of several lines is none of ours. */
const act = async (talk: Talk, text: string): Promise<number | undefined> => {
  const [all, name = '', rest = ''] = /^\/([a-z]+)(?: +(.*?))? *$/u.exec(text) ?? []
  if (all === undefined) return say(talk, text.startsWith('//') ? text.slice(1) : text)
  if (name === 'quit' || name === 'exit') return talk.code
  const known = acts.get(name)
  if (known !== undefined) return (await known(talk, rest)) ?? undefined
  const meant = nearest(name, [...acts.keys(), 'quit'])
  talk.sheet.line(
    `There is no /${name}${meant === undefined ? ': /help tells what there is.' : `; did you mean /${meant}?`}`,
  )
  return undefined
}

/** Resolves with the exit code when the person leaves. */
export const converse = async (conversation: Conversation): Promise<number> => {
  const { input, dialogue, sheet } = conversation
  const elsewhere = dialogue.attended ? createElsewhere(input) : undefined
  const talk: Talk = { ...conversation, session_id: '', last: undefined, code: 0, said: 0, files: [], elsewhere }
  const { model: wish, worktree } = input.flags
  await enter(talk, input.args['session_id'])
  if (worktree === true)
    await input.client.send('PUT', `${sessionPath(talk.session_id)}/isolation`, { isolation: 'worktree' })
  if (typeof wish === 'string') await chooseModel(input.client, talk.session_id, wish)
  if (dialogue.attended) {
    await showModel(talk)
    sheet.line('/help says what can be typed, Ctrl-D leaves.')
  }
  let left = await resume(talk)
  while (left === undefined) {
    const said = await heard(talk)
    const isRun = said !== undefined && 'run_id' in said
    if (!isRun && said?.type !== 'text') return said?.type === 'interrupt' && !dialogue.attended ? 130 : talk.code
    if (!isRun && said.text.trim() === '') continue
    left = await (isRun ? follow(talk, said) : act(talk, said.text)).catch((error: unknown) => {
      talk.code = 1
      sheet.line(input.told(error))
      return undefined
    })
  }
  return left
}
