/** What `init` asks a person. */
import { visibleLine, type CommandInput, type Dialogue } from '../../../../core/plugin.js'
import type { Candidate } from './found.js'
import { describe } from './init-words.js'
import type { Chosen } from './set-routes.js'

const numbered = (lines: readonly string[]): string[] => lines.map((line, at) => `  ${at + 1}  ${visibleLine(line)}`)

/** Where a number or a name stands; the only one that begins so counts too. Undefined if none is meant. */
const placeIn = (names: readonly string[], said: string): number | undefined => {
  if (/^\d+$/u.test(said)) return names[Number(said) - 1] === undefined ? undefined : Number(said) - 1
  const alike = names.filter((name) => name.startsWith(said))
  const [only = said] = alike.length === 1 ? alike : []
  const at = names.indexOf(only)
  return at < 0 ? undefined : at
}

const textOf = async (dialogue: Dialogue, prompt: string): Promise<string | undefined> => {
  const said = await dialogue.hear(prompt)
  return said?.type === 'text' ? said.text.trim() : undefined
}

/** One of several, the first by Enter. Undefined if the person leaves. */
const pick = async ({ print }: CommandInput, dialogue: Dialogue, names: readonly string[]) => {
  for (;;) {
    const text = await textOf(dialogue, 'Which one? [1] ')
    if (text === undefined) return undefined
    const at = text === '' ? 0 : placeIn(names, text)
    if (at !== undefined) return names[at]
    print(`There is no ${visibleLine(text)}: type a number from 1 to ${names.length} or a model's name; Enter takes 1.`)
  }
}

/** Some of them, all by Enter, the first of which becomes the default. */
const pickSome = async ({ print }: CommandInput, dialogue: Dialogue, found: readonly Candidate[]) => {
  const names = found.map(({ route_id }) => route_id)
  for (;;) {
    const text = await textOf(dialogue, 'Which to use, the default first? Numbers such as 2,1; Enter for all: ')
    if (text === undefined) return undefined
    if (text === '') return [...found]
    const chosen = text.split(/[\s,]+/u).map((piece) => placeIn(names, piece))
    if (chosen.every((at) => at !== undefined)) return [...new Set(chosen)].flatMap((at) => found[at ?? -1] ?? [])
    print(`Type numbers from 1 to ${names.length} or names, with commas between; Enter takes all.`)
  }
}

const isYes = (text: string | undefined): boolean => text !== undefined && /^(?:y|yes)?$/iu.test(text)

/** Of routes that are not there yet. Undefined if the person leaves. */
export const askFor = async (input: CommandInput, found: readonly Candidate[]): Promise<Chosen[] | undefined> => {
  const dialogue = input.dialogue()
  input.print(['Found', ...numbered(found.map(describe))].join('\n'))
  const wanted = found.length === 1 ? [...found] : await pickSome(input, dialogue, found)
  if (wanted === undefined) return undefined
  const chosen: Chosen[] = []
  for (const one of wanted) {
    const { models, route_id } = one
    if (models.length > 1) input.print([`Models of ${visibleLine(route_id)}`, ...numbered(models)].join('\n'))
    const model = models.length > 1 ? await pick(input, dialogue, models) : models[0]
    if (model === undefined && models.length > 1) return undefined
    chosen.push({ ...one, model })
  }
  const names = chosen.map(({ route_id }) => visibleLine(route_id)).join(', ')
  const said = await textOf(dialogue, `Store what is needed and add to config/routes.toml: ${names}? [Y/n] `)
  return isYes(said) ? chosen : undefined
}

/** Whether a key gives way to one that was found. */
export const askForKey = async (input: CommandInput, { route_id, key }: Chosen): Promise<boolean> => {
  const lacks = `${visibleLine(route_id)} does not answer with the key that it has.`
  return isYes(await textOf(input.dialogue(), `${lacks} Store ${visibleLine(key?.from ?? 'this one')}? [Y/n] `))
}
