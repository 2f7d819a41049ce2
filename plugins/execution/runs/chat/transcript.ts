/** A run as a person reads it: what its model says, and each tool call in a line. */
import { isJsonObject, open, optional, parse, string, visibleLine, type Json } from '../../../../core/plugin.js'
import { fileText } from '../../../media/assets/contract.js'
import { filesOf } from '../terminal/run-text.js'
import type { JournalRow } from './journal.js'
import type { Sheet } from './sheet.js'
import { resultLines } from './result-text.js'
import { createSpeech, type Speech } from './speech.js'

export interface Transcript extends Pick<Speech, 'begin' | 'piece' | 'missed'> {
  entry(row: JournalRow): void
  /** A call begins, as is told while it happens; one whose beginning is not told is shown with its outcome. */
  started(tool_call_id: string, tool_name: string): void
}

/** What an output has that was not said before, such as the pages that an answer cites. */
const beyond = (said: string, content: string): string =>
  content.startsWith(said) ? content.slice(said.length).trimStart() : content

/** Signs of a call in its line, and of a reason, which is a sentence that somebody needs whole. */
const [most, mostOfReason] = [74, 300]

/** A line end in a call is seen as one: what stands behind it is no part of a comment before it. */
const lineEnd = / *(?:\r?\n)+ */gu

const oneLine = (text: string, room = most): string => {
  const line = visibleLine(text.replaceAll(/\s+/gu, ' ').trim())
  return line.length > room ? `${line.slice(0, room - 1)}…` : line
}

/** A call with one text says it; any other its input. */
const inputText = (input: Json | undefined): string => {
  if (!isJsonObject(input)) return input === undefined ? '' : JSON.stringify(input)
  const values = Object.values(input)
  const [only] = values
  if (values.length === 0) return ''
  return values.length === 1 && typeof only === 'string' ? only : JSON.stringify(input)
}

const Failure = open({ error: open({ message: optional(string()), code: optional(string()) }) })
const reasonOf = (output: Json | undefined): string => {
  const parsed = parse(Failure, output)
  return parsed.ok ? (parsed.value.error.message ?? parsed.value.error.code ?? '') : ''
}

/** The tool whose calls are seen as the questions they ask. */
const asking = 'ask_user_question'

const endings = new Map([
  ['failed', 'failed'],
  ['refused', 'was not made'],
  ['unknown', 'was cut off: nobody knows whether it was done'],
])

export const createTranscript = (sheet: Sheet): Transcript => {
  const speech = createSpeech(sheet)
  const calls = new Map<string, Json | undefined>()
  const told = new Set<string>()
  /** What the model said last, which is the output of a run that completes. */
  let said = ''
  /** The call whose line is the last one. */
  let last: string | undefined
  const callText = (id: string, name: string): string =>
    oneLine(`${name}  ${inputText(calls.get(id)).trim().replaceAll(lineEnd, ' ⏎ ')}`)
  const started = (id: string, name: string): void => {
    if (told.has(id) || name === asking) return
    told.add(id)
    last = id
    sheet.line(`• ${callText(id, name)}`)
  }
  const refused = (id: string, name: string, output: Json | undefined): void => {
    const reason = reasonOf(output)
    sheet.line(`• not made: ${callText(id, name)}${reason === '' ? '' : `\n    ${oneLine(reason, mostOfReason)}`}`)
  }
  /** Calls that are made at the same time end behind each other. */
  const gave = (id: string, name: string, output: Json | undefined): void => {
    const lines = name === asking ? [] : resultLines(output, sheet.columns())
    if (lines.length > 0) sheet.line([...(last === id ? [] : [`  ${callText(id, name)}:`]), ...lines].join('\n'))
    last = undefined
  }
  const message = (content: NonNullable<JournalRow['entry']['message']>['content']): void => {
    last = undefined
    said = content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join('')
    speech.settle(said)
    for (const { id, input } of content) if (id !== undefined) calls.set(id, input)
  }
  const ended = (entry: JournalRow['entry']): void => {
    const { tool_call_id: id = '', tool_name: name = '', state = '', output, files = [] } = entry
    if (state === 'refused' && !told.has(id) && name !== asking) return refused(id, name, output)
    const ending = endings.get(state)
    started(id, name)
    if (ending === undefined) gave(id, name, output)
    const reason = reasonOf(output)
    // A question that nobody answers was seen to be declined.
    if (ending !== undefined && (name !== asking || reason !== ''))
      sheet.line(`  ${visibleLine(name)} ${ending}${reason === '' ? '' : `: ${oneLine(reason, mostOfReason)}`}`)
    for (const file of files) sheet.line(`  file ${fileText(file)}`)
  }
  return {
    begin: speech.begin,
    piece: speech.piece,
    started,
    missed: speech.missed,
    entry({ type, entry }) {
      if (type === 'message' && entry.message?.role === 'assistant') message(entry.message.content)
      if (type === 'outcome') ended(entry)
      if (type === 'audit' && entry.audit?.grant_id !== undefined)
        sheet.line(`  ${oneLine(entry.audit.reason ?? '', mostOfReason)}`)
      const output = type === 'event' ? entry.event?.output : undefined
      if (output === undefined) return
      const rest = beyond(said.trim(), output.content.trim())
      if (rest !== '') {
        sheet.end()
        sheet.say(rest)
        sheet.end()
      }
      for (const file of filesOf(output)) sheet.line(`  file ${fileText(file)}`)
    },
  }
}
