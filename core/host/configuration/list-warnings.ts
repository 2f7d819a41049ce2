/** What operators are told of the files of lists. */
import type { Problem } from '../../base/errors.js'
import type { Warning } from '../../base/health.js'
import { sentence } from '../../base/text/command-text.js'
import { visibleLine } from '../../base/text/visible.js'
import type { ListSpec } from '../../plugin/list.js'
import { errors } from '../errors.js'
import { besideTables, holdsAny, missingOf, placedIn, placeOf, sourceOf, wholeFile } from './list-parts.js'

/** A list, as far as it is told of. */
export interface Told {
  readonly spec: ListSpec
  readonly held: ReadonlyMap<string, { readonly text: string }>
  /** What is wrong with the file, or with entries by name. */
  readonly faults: ReadonlyMap<string, string>
  /** Something that is not in the file as it is now holds from before. */
  readonly isKept: boolean
  /** The line that a fault is about; undefined where it is about none, or there is no file. */
  readonly lineOf: (name: string, fault: string) => number | undefined
  /** The name of a wrong entry that a start may not leave out: the first one. */
  readonly vital: string | undefined
  /** It is a part of a configuration, of which a start leaves nothing out. */
  readonly isConfiguration: boolean
}

/** What ends a start; undefined for nothing. */
export const refusedOf = ({ spec, faults, vital }: Told): string | undefined =>
  spec.isVital !== undefined && faults.has(wholeFile) ? wholeFile : vital

/** The fault of a file begins with its name, and its line. */
export const vitalFault = ({ spec, faults, lineOf }: Told, name: string): Problem => {
  const [source, fault] = [sourceOf(spec), faults.get(name) ?? 'is wrong']
  const end = fault.indexOf(' ', source.length)
  const [file, problem] =
    name === wholeFile
      ? [fault.slice(0, end), fault.slice(end + 1)]
      : [placedIn(source, lineOf(name, fault)), `${placeOf(spec, name)} ${fault}`]
  return errors.list_invalid({ details: { file, problem } })
}

/** That a flag names the file and it is not there. */
export const absent = ({ spec }: Told): Warning[] => {
  const missing = missingOf(spec)
  if (missing === undefined) return []
  return [
    {
      severity: 'warning',
      code: `${spec.file}_file_missing`,
      message: sentence(missing),
      action: `Put ${visibleLine(sourceOf(spec))} there: it is read then. Or start the daemon with the right name.`,
    },
  ]
}

/** Warnings of one list that are told at most. */
const mostWarnings = 20

const moreThan = (wrong: number): string =>
  wrong > mostWarnings ? ` ${wrong - mostWarnings} more of the file are wrong.` : ''

/** What holds in place of what is wrong. */
const instead = ({ spec, held, isKept }: Told, name: string): string => {
  const stays = 'What held before stays.'
  if (name === wholeFile) return isKept ? stays : holdsAny(held) ? 'What else it has holds.' : 'Nothing of it holds.'
  const before = held.get(name)
  if (name === besideTables) return before === undefined || before.text === '{}' ? 'None of it holds.' : stays
  if (before !== undefined) return stays
  // One without a name may be any that is not there.
  return isKept && spec.arrays !== undefined
    ? 'The entry is left out, and what held before stays.'
    : 'The entry is left out.'
}

/** What is wrong with a file, or with entries of it. */
export const warningsOf = (list: Told): Warning[] => {
  const { spec, faults, lineOf } = list
  const refused = refusedOf(list)
  return [...faults].slice(0, mostWarnings).map(([name, fault], at) => {
    const source = placedIn(sourceOf(spec), lineOf(name, fault))
    const isEntry = name !== wholeFile && name !== besideTables
    // The fault of a file begins with its name.
    const place = name === wholeFile ? '' : `${source}: ${isEntry ? `${placeOf(spec, name)} ` : ''}`
    const next = list.isConfiguration || name === refused ? ' The next start refuses it.' : ''
    const more = at === mostWarnings - 1 ? moreThan(faults.size) : ''
    return {
      severity: 'warning',
      code: 'config_entry_invalid',
      message: `${place}${sentence(fault)} ${instead(list, name)}${next}${more}`,
      action: `Correct ${visibleLine(sourceOf(spec))}: it is read again when it is saved.`,
      related_id: isEntry ? `${spec.file}/${visibleLine(name).slice(0, 80)}` : spec.file,
    }
  })
}
