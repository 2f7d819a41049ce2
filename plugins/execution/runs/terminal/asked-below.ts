/** What agents ask people while somebody follows what waits for them (command-line-23). */
import { array, open, parse, string, visibleLine, type CommandInput } from '../../../../core/plugin.js'
import { reasonLines, ShownReason } from '../../../operator/explanations/contract.js'

const Reason = open({ ...ShownReason.schema, code: string() })
const Told = open({ subjects: array(open({ id: string(), text: string(), reasons: array(Reason) })) })

/** Between two looks, milliseconds. */
const pauseMs = 2000
/** What only people move. */
const ofPeople: ReadonlySet<string> = new Set(['approval', 'question'])

export interface AskedBelow {
  /** What is explained: a run, or a flow. */
  readonly about: string
  /** The run whose own requests are told already. */
  readonly but: string
  readonly print: (text: string) => void
  readonly signal: AbortSignal
}

/** Tells each request once, with the lines that settle it, until the signal aborts or nothing explains. */
export const tellAskedBelow = async (
  { client, pause }: CommandInput,
  { about, but, print, signal }: AskedBelow,
): Promise<void> => {
  const told = new Set<string>()
  while (!signal.aborted) {
    const answer = await client.get(`/v1/explanations/${encodeURIComponent(about)}`).catch(() => undefined)
    if (answer === undefined || signal.aborted) return
    const parsed = parse(Told, answer)
    for (const { id, text, reasons } of parsed.ok ? parsed.value.subjects : [])
      for (const reason of reasons.filter(({ code }) => ofPeople.has(code) && id !== but)) {
        const lines = reasonLines(reason)
        const key = `${id} ${lines.join('\n')}`
        if (told.has(key)) continue
        told.add(key)
        print([`An agent of it, in the run ${visibleLine(id)}: ${visibleLine(text)}`, ...lines].join('\n'))
      }
    await pause(pauseMs, signal)
  }
}
