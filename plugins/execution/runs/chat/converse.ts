/** The conversation: what a person says goes to the session, or does something here. */
import { isJsonObject, nearest, parse, visibleLine, type Json, type Said } from '../../../../core/plugin.js'
import { givenFile } from '../../../media/assets/contract.js'
import { RunAnswer, type RunRow } from '../terminal/run-text.js'
import { choose, compact, help, model, showModel, status } from './acts.js'
import { createElsewhere } from './elsewhere.js'
import { sessionPath } from './journal.js'
import { history, readRuns, sessions, showLast } from './past.js'
import { askedText, backText, find, journalEnd, prompt, type Talk } from './talk.js'
import { typedFile, withFiles } from './typed-file.js'
import { isOver, watchRun, type Conversation, type Watched, type Watching } from './watch.js'

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
  talk.sheet.line(`${what} ${visibleLine(session_id)}.`)
  if (known === undefined) talk.sheet.line(backText(session_id))
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
  talk.sheet.line(`What runs goes on without you.\n${backText(talk.session_id)}`)
  return watching.code
}

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
  const given = givenFile(typedFile(file, talk.input.variable('HOME')))
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

/** A run that others began, from its beginning: what it asks is asked here too. */
const follow = (talk: Talk, run: RunRow): Promise<number | undefined> => {
  talk.elsewhere?.shown(run.run_id)
  talk.sheet.line(`From elsewhere: ${askedText(run)}`)
  const submit = (): Promise<Json> => talk.input.client.get(`/v1/runs/${encodeURIComponent(run.run_id)}`)
  return watch(talk, { submit, after: () => Promise.resolve(undefined), isOfOthers: true })
}

/** What the person says; or a run of others that began while nothing was said, with what was typed kept. */
const heard = async ({ dialogue, elsewhere, input }: Talk): Promise<Said | RunRow | undefined> => {
  const complete = (line: string): string[] => withFiles(line, input.variable('HOME'))
  const how = { remembered: true, complete }
  if (elsewhere === undefined) return dialogue.hear(prompt, how)
  const [over, taken] = [new AbortController(), new AbortController()]
  let run: RunRow | undefined
  const listening = elsewhere.next(over.signal).then((found) => {
    run = found
    if (found !== undefined) taken.abort()
  })
  const said = await dialogue.hear(prompt, { ...how, signal: taken.signal })
  over.abort()
  await listening
  return said ?? run
}

/** The run that is open when a person comes, is gone on with; of one that is over it is shown what became of it. */
const resume = async (talk: Talk): Promise<number | undefined> => {
  const [run] = await readRuns(talk, 1)
  if (run === undefined) return undefined
  talk.last = run.run_id
  talk.elsewhere?.shown(run.run_id)
  if (isOver(run)) return talk.dialogue.attended ? void (await showLast(talk, run)) : undefined
  talk.sheet.line(`${prompt}${askedText(run)}`)
  const submit = (): Promise<Json> => talk.input.client.get(`/v1/runs/${encodeURIComponent(run.run_id)}`)
  return watch(talk, { submit, after: () => Promise.resolve(undefined) })
}

type Act = (talk: Talk, rest: string) => Promise<number | undefined | void>

const acts: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['attach', attach],
  ['compact', compact],
  ['help', async ({ sheet }) => sheet.line(help)],
  ['history', history],
  ['model', model],
  ['new', async (talk) => enter(talk, undefined)],
  ['retry', retry],
  ['sessions', sessions],
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
  if (typeof wish === 'string') await choose(talk, wish)
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
    left = await (isRun ? follow(talk, said) : act(talk, said.text)).catch(async (error: unknown) => {
      talk.code = 1
      sheet.line(await input.told(error))
      return undefined
    })
  }
  return left
}
