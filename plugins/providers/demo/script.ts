/** The language of the demo model. See docs/demo.md. */
import { isModest, type Json } from '../../../core/plugin.js'

export type Step =
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'sleep'; readonly ms: number }
  | { readonly type: 'fail'; readonly retryable: boolean; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly input: Json }

/** What the model does in one call. */
export type Turn = readonly Step[]

type Read = { readonly ok: true; readonly step: Step } | { readonly ok: false; readonly reason: string }

const step = (value: Step): Read => ({ ok: true, step: value })
const refuse = (reason: string): Read => ({ ok: false, reason })

/** An hour: longer than anyone wants to watch. */
const longestSleep = 3_600_000

const directives: Readonly<Record<string, (rest: string) => Read>> = {
  say: (rest) => (rest === '' ? refuse('/say needs a text') : step({ type: 'say', text: rest })),
  emit: (rest) =>
    rest === '' ? refuse('/emit needs a text') : step({ type: 'call', name: 'emit_output', input: { content: rest } }),
  tool: (rest) => readTool(/^(\S+)([^]*)$/u.exec(rest)),
  ask: (rest) => readAsk(rest.split('|').map((piece) => piece.trim())),
  sleep: (rest) =>
    /^\d{1,7}$/u.test(rest) && Number(rest) <= longestSleep
      ? step({ type: 'sleep', ms: Number(rest) })
      : refuse(`/sleep needs milliseconds, at most ${longestSleep}`),
  fail: (rest) => readFail(/^(retryable|fatal)(?:\s+([^]*))?$/u.exec(rest)),
}

const readTool = (match: RegExpExecArray | null): Read => {
  const [, name, rest = ''] = match ?? []
  if (name === undefined) return refuse('/tool needs the name of a tool')
  const text = rest.trim()
  const input = parseJson(text === '' ? '{}' : text)
  return input === undefined
    ? refuse('the input of /tool is not valid JSON')
    : step({ type: 'call', name, input: input.value })
}

const parseJson = (text: string): { value: Json } | undefined => {
  if (!isModest(text)) return undefined
  try {
    const value: Json = JSON.parse(text)
    return { value }
  } catch {
    return undefined
  }
}

const readAsk = ([question = '', ...labels]: readonly string[]): Read => {
  if (question === '' || labels.length < 2 || labels.length > 4 || labels.includes(''))
    return refuse('/ask needs a question and two to four options: /ask Question? | A | B')
  const options = labels.map((label) => ({ label }))
  return step({
    type: 'call',
    name: 'ask_user_question',
    input: { questions: [{ header: 'Question', question, options, multi_select: false }] },
  })
}

const readFail = (match: RegExpExecArray | null): Read => {
  if (match === null) return refuse('/fail needs retryable or fatal, then a text')
  return step({
    type: 'fail',
    retryable: match[1] === 'retryable',
    text: match[2] ?? 'The demo model was asked to fail.',
  })
}

const known = new RegExp(`^/(${Object.keys(directives).join('|')})(\\s|$)`, 'u')
const slash = /^\/([a-z_]+)(?:\s+([^]*))?$/u

const isScript = (lines: readonly string[]): boolean => {
  const first = lines.find((line) => line !== '')
  return (first !== undefined && slash.test(first)) || lines.some((line) => known.test(line))
}

const readLine = (line: string): Read => {
  const [, name = '', rest = ''] = slash.exec(line) ?? []
  const read = Object.hasOwn(directives, name) ? directives[name] : undefined
  return read === undefined
    ? refuse(
        `it is not a directive; I know ${Object.keys(directives)
          .map((word) => `/${word}`)
          .join(', ')} and ---`,
      )
    : read(rest.trim())
}

/** More than anyone writes by hand. */
const mostLines = 10_000

const when = /^\/when\s+(\S.*)$/u
const linesOf = (text: string): readonly string[] => text.split('\n').map((line) => line.trim())

/** The first script of the system prompt whose words stand in the text. */
const scriptFor = (text: string, system: string): readonly string[] | undefined => {
  if (!system.includes('/when')) return undefined
  const said = text.toLowerCase()
  const lines = linesOf(system)
  const at = lines.findIndex((line) => {
    const words = when.exec(line)?.[1]?.toLowerCase()
    return words !== undefined && (words === '*' || said.includes(words))
  })
  if (at < 0) return undefined
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => when.test(line) || !(line === '---' || slash.test(line)))
  return end < 0 ? rest : rest.slice(0, end)
}

interface Asked {
  readonly said: string
  /** With what the daemon added. */
  readonly text: string
  readonly system: string
}
/**
 * The turns of a text: those of a script, which what was said of it or all of it is, or which the system prompt has for
 * it; one that repeats it; or one that says what is wrong with the script.
 */
export const readScript = ({ said, text, system }: Asked): readonly Turn[] => {
  const script = [said, text].map(linesOf).find(isScript) ?? scriptFor(text, system)
  return script === undefined ? [[{ type: 'say', text: `You said: ${text}` }]] : readLines(script)
}

const unreadable = (index: number, reason: string): readonly Turn[] => [
  [{ type: 'say', text: `I cannot read line ${index + 1}: ${reason}.` }],
]

const readLines = (lines: readonly string[]): readonly Turn[] => {
  if (lines.length > mostLines) return unreadable(mostLines, `a script has at most ${mostLines} lines`)
  const turns: Step[][] = []
  let open: Step[] = []
  const close = (): void => {
    turns.push(open)
    open = []
  }
  for (const [index, line] of lines.entries()) {
    if (line === '') continue
    const read = line === '---' ? undefined : readLine(line)
    if (read?.ok === false) return unreadable(index, read.reason)
    if (calls(open) && read?.step.type !== 'call') close()
    if (read !== undefined) open.push(read.step)
  }
  close()
  return finished(turns)
}

/** A model acts by calling tools, so a turn ends where its calls end; without a call it goes on. */
const calls = (turn: Turn): boolean => turn.at(-1)?.type === 'call'

const done: Step = { type: 'say', text: 'Done.' }

const finished = (turns: readonly Turn[]): readonly Turn[] => {
  const last = turns.at(-1) ?? []
  if (calls(last)) return [...turns, [done]]
  return last.at(-1)?.type === 'say' ? turns : [...turns.slice(0, -1), [...last, done]]
}

/** The turn of a script; beyond its last one the model has nothing to add. */
export const turnOf = (turns: readonly Turn[], index: number): Turn => turns[index] ?? [done]
