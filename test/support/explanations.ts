/** Situations that are explained: what is printed is compared with a golden text, and its command lines are pasted. */
import { createPause } from './pause.js'
import type { ExecutionContext } from 'ava'
import { parseArguments, switchesOf } from '../../core/cli/arguments.js'
import { allCommands } from '../../core/cli/client-line.js'
import { findCommand, givenOf } from '../../core/cli/dispatch.js'
import { shipped } from '../../core/shipped.js'
import { createCommandLine } from './command-line.js'
import type { Reachable } from './daemon.js'
import { isGoldenText } from './golden-text.js'

const commands = await allCommands(shipped)

/** As a shell would take them apart: what `commandLine` makes has single quotes alone. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/gu)].map(([word]) => word.replaceAll(/'([^']*)'|\\(.)/gu, '$1$2'))

export const readExplanation = async ({ request }: Pick<Reachable, 'request'>, id: string): Promise<any> =>
  (await request('GET', `/v1/explanations/${encodeURIComponent(id)}`)).body

const codesIn = ({ subjects = [] }: any): string[] =>
  [...new Set<string>(subjects.flatMap(({ reasons }: any) => reasons.map(({ code }: any) => code)))].toSorted()
const linesIn = ({ subjects = [] }: any): string[] =>
  subjects.flatMap(({ reasons }: any) => reasons.flatMap(({ commands: lines = [] }: any) => lines))

/** Ids get the names of their kind in the order in which they appear, and times are all the same. */
const plain = (text: string): string => {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu, 'T')
    .replaceAll(/\b([a-z]+)_(?:[0-9a-hjkmnp-tv-z]{26}|[0-9a-f]{24}|[0-9a-f]{32})\b/gu, (id, kind: string) => {
      const count = counts.get(kind) ?? 0
      if (!names.has(id)) counts.set(kind, count + 1)
      const name = names.get(id) ?? `${kind}-${count + 1}`
      names.set(id, name)
      return name
    })
}

const poll = async <T>(ask: () => Promise<T>, holds: (found: T) => boolean, what: string): Promise<T> => {
  const pause = createPause()
  for (let n = 0; ; n += 1) {
    const found = await ask()
    if (holds(found)) return found
    if (n > 600) throw new Error(`${what}: ${JSON.stringify(found, null, 1)}`)
    await pause()
  }
}

/** Fails for a line that the command line would refuse before it asks anybody. */
export const checkLine = (t: ExecutionContext, line: string): void => {
  const [program, ...words] = wordsOf(line)
  t.is(program, 'holdfast', line)
  const given = parseArguments(words, switchesOf(commands))
  t.notThrows(() => givenOf(findCommand(given, commands), given), line)
}

/** Lines that show more, and change nothing. */
const looks = /^holdfast (?:status|usage|\w+ (?:list|get|actions))\b/u

export interface Situation {
  /** Pastes the first command line that changes something, and is like this, what stands for words of one's own replaced, and sees that something is different. */
  move(own?: Readonly<Record<string, string>>, like?: RegExp): Promise<void>
}

export interface Told {
  readonly id: string
  readonly codes: readonly string[]
}

/** The daemon explains `id` with these codes alone, as the golden text of this name says. */
export const situation = async (
  t: ExecutionContext,
  daemon: Pick<Reachable, 'request' | 'url'>,
  name: string,
  { id, codes }: Told,
): Promise<Situation> => {
  const wanted = codes.toSorted().join()
  const before = await poll(
    () => readExplanation(daemon, id),
    (found) => codesIn(found).join() === wanted,
    `${name} is not explained by ${wanted}`,
  )
  const holdfast = createCommandLine(daemon)
  const { out, err, code } = await holdfast('explain', '--', id)
  t.is(code, 0, err)
  isGoldenText(t, `explanations/${name}.txt`, `${plain(out)}\ncodes: ${codes.toSorted().join(', ')}\n`)
  const lines = linesIn(before)
  for (const line of lines) checkLine(t, line)
  const shape = (found: any): string =>
    JSON.stringify(found.subjects.map(({ id: of, status, reasons }: any) => [of, status, reasons]))
  return {
    async move(own = {}, like = /^/u) {
      const line = lines.find((one) => !looks.test(one) && like.test(one)) ?? ''
      const words = wordsOf(line).slice(1)
      const ran = await holdfast(...words.map((word) => own[word] ?? word))
      t.is(ran.code, 0, `${line}: ${ran.err}`)
      await poll(
        () => readExplanation(daemon, id),
        (found) => shape(found) !== shape(before),
        `${line} moved nothing`,
      )
    },
  }
}
