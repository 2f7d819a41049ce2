/** Variables of the environment that look as if the daemon read them, and that nobody reads. */
import { settingsOf, variableOf, type Environment, type Setting } from '../../base/config.js'
import type { Warning } from '../../base/health.js'
import { daemonSettings } from '../../base/settings.js'
import { visibleLine } from '../../base/text/visible.js'
import { nearest } from '../../base/words/nearest.js'
import { markerName } from '../../state/root/process-table.js'
import type { Loaded } from '../load/load.js'

export interface Variables {
  readonly environment: Environment
  readonly loaded: readonly Loaded[]
  /** False where plugins may be missing, with variables of their own. */
  readonly complete: boolean
}

const prefix = 'SERVICE_'
/** What people take for the prefix. */
const looksOurs = /^(?:SERVICE|HOLDFAST)_(.+)$/su
/** Read by commands that call a daemon, and told to programs that a daemon starts. */
const others = ['SERVICE_DAEMON_URL', 'SERVICE_DAEMON_TOKEN', 'SERVICE_DAEMON_TOKEN_FILE', markerName]

/** Names are told to this length, and so many of them. */
const [longest, most] = [100, 20]

/** By what somebody may have written: some flags have a variable of another name. */
const knownNames = (settings: readonly Setting[]): ReadonlyMap<string, string> =>
  new Map([
    ...settings.map(({ flag, variable }) => [variableOf(flag, false), variable] as const),
    ...[...settings.map(({ variable }) => variable), ...others].map((name) => [name, name] as const),
  ])

const warningOf = (name: string, meant: string | undefined): Warning => {
  const shown = visibleLine(name.slice(0, longest))
  return {
    severity: meant === undefined ? 'info' : 'warning',
    code: 'variable_unknown',
    message: `Nobody reads the variable ${shown}: its value has no effect.`,
    related_id: shown,
    action:
      meant === undefined
        ? 'Unset it if it is meant for this daemon; docs/reference/configuration.md names the variables that are read.'
        : `If ${meant} is meant, set that in its place and start again.`,
  }
}

/** One for each variable that is set and that nobody reads; never its value. */
export const strangeVariables = ({ environment, loaded, complete }: Variables): readonly Warning[] => {
  const plugins = loaded.flatMap((entry) => (entry.ok ? settingsOf(entry.plugin) : []))
  const known = knownNames([...daemonSettings, ...plugins])
  const words = [...known.keys()].map((name) => name.slice(prefix.length))
  return Object.keys(environment)
    .toSorted()
    .flatMap((name) => {
      const [, word] = looksOurs.exec(name) ?? []
      if (word === undefined || !environment[name] || known.get(name) === name) return []
      const close = nearest(word, words)
      const meant = close === undefined ? undefined : known.get(prefix + close)
      return meant === undefined && !complete ? [] : [warningOf(name, meant)]
    })
    .slice(0, most)
}
