/** What a person can ask for in a conversation beside talking. */
import { array, boolean, number, open, optional, parse, string, visibleLine } from '../../../../core/plugin.js'
import { chooseModel, modelText, readModel, routeHint } from './chosen-model.js'
import { sessionPath } from './journal.js'
import { backText, type Talk } from './talk.js'

export const help = [
  'A line is a message. A \\ at its end, or pasting, makes it go on in the next line.',
  '/model [NAME]  which model answers; MODEL, ROUTE or ROUTE/MODEL chooses another for this session',
  '/attach FILE   gives a file along with the next message',
  '/compact       sums up the older part of what was said, for the model; /compact WHAT says what to keep',
  '/history [N]   shows the last exchanges of this session, 5 of them or N',
  '/sessions      which sessions were used last',
  '/new           begins another session',
  '/retry         makes the last run anew',
  '/status        how this session and the daemon are',
  '/quit          leaves; so do Ctrl-D, and Ctrl-C where nothing is typed',
  'Ctrl-C while the model works interrupts the run. // at the beginning sends a message that begins with /.',
].join('\n')

export const showModel = async (talk: Talk): Promise<void> => {
  const now = await readModel(talk.input.client, talk.session_id)
  if (now === undefined) return
  talk.sheet.line(`Model ${modelText(now)}.${now.trouble === undefined ? '' : ` ${visibleLine(now.trouble)}`}`)
}

/** Makes the session use a model; what may be a mistyped route is told first, as its provider may refuse the rest. */
export const choose = async (talk: Talk, name: string): Promise<void> => {
  const { input, session_id, sheet } = talk
  const now = await readModel(input.client, session_id)
  const hint = now === undefined ? undefined : routeHint(now, name)
  if (hint !== undefined) sheet.line(hint)
  await chooseModel(input.client, session_id, name)
}

export const model = async (talk: Talk, name: string): Promise<void> => {
  if (name !== '') await choose(talk, name)
  await showModel(talk)
  const now = name === '' ? await readModel(talk.input.client, talk.session_id) : undefined
  if (now !== undefined) talk.sheet.line(`There are ${now.routes.map(modelText).join(', ')}. /model NAME chooses.`)
}

const Status = open({ status: string(), health: open({ warnings: optional(array(open({ message: string() }))) }) })
const Usage = open({ usage: optional(open({ input_tokens: number(), output_tokens: number() })) })

export const status = async (talk: Talk): Promise<void> => {
  const { input, sheet, session_id, last } = talk
  const { client } = input
  const daemon = parse(Status, await client.get('/v1/status'))
  sheet.line(`Session ${visibleLine(session_id)}.\n${backText(session_id)}`)
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

const Compacted = open({
  compacted: boolean(),
  message: optional(string()),
  tokens_before: optional(number()),
  tokens_after: optional(number()),
})
export const compact = async ({ input: { client }, session_id, sheet }: Talk, instructions: string): Promise<void> => {
  const body = instructions === '' ? {} : { instructions }
  const parsed = parse(Compacted, await client.send('POST', `${sessionPath(session_id)}/compact`, body))
  if (!parsed.ok) return
  const { compacted, message = '', tokens_before = 0, tokens_after = 0 } = parsed.value
  const text = compacted
    ? `Summed up: about ${tokens_before} tokens before, ${tokens_after} after.`
    : `Not summed up: ${message}`
  sheet.line(visibleLine(text))
}
