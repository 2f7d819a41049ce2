/** What is kept in files and is wrong there: the list has it not, and who reads the list is told so. */
import { array, isJsonObject, open, optional, string, type Infer, type Json } from '../base/schema.js'
import { parse } from '../base/parse.js'
import { visibleLine } from '../base/text/visible.js'
import type { CommandInput } from './command.js'

const Warning = open({ code: string(), message: string(), related_id: optional(string()) })
type Warning = Infer<typeof Warning>
const Status = open({ health: open({ warnings: optional(array(Warning)) }) })

/** Of the lists of `ctx.list`: the warnings of this file, such as `mcp`. */
export const ofFile =
  (file: string) =>
  ({ code, related_id = '' }: Warning): boolean =>
    code === 'config_entry_invalid' && (related_id === file || related_id.startsWith(`${file}/`))

/** The answer with the member `wrong`, what the status warns of, if there is something and a person reads it. */
export const withWrong = async (
  { client, output }: Pick<CommandInput, 'client' | 'output'>,
  belongs: (warning: Warning) => boolean,
  answer: Json,
): Promise<Json> => {
  if (output === 'json' || !isJsonObject(answer)) return answer
  const status = parse(Status, await client.get('/v1/status').catch(() => null))
  const wrong = status.ok ? (status.value.health.warnings ?? []).filter(belongs) : []
  return wrong.length === 0 ? answer : { ...answer, wrong: wrong.map(({ message }) => message) }
}

/** Of an answer that `withWrong` gave. */
export const wrongField = optional(array(string()))

/** The rows, and what is wrong; that there are none is told only where nothing is wrong either. */
export const showWrong = (shown: readonly string[], none: string, wrong: readonly string[] = []): string[] => [
  ...(shown.length === 0 && wrong.length === 0 ? [none] : shown),
  ...wrong.map((message) => `wrong: ${visibleLine(message)}`),
]
