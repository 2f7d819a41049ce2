/** How connectors are: in the status, in warnings and in metrics. */
import {
  commandLine,
  doc,
  integer,
  object,
  sentence,
  visibleLine,
  type HealthCheck,
  type List,
  type Metric,
  type Warning,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { changeLine, connectorHealths, connectorKinds, opening, type ConnectorHealth } from './contract.js'
import { draftOf, type Entry } from './entry.js'
import type { Registry } from './registry.js'
import { idOfEntry } from './roster.js'

export interface StatusParts {
  /** How the file of connectors is called. */
  readonly file: string
  /** The line of it that a fault of an entry is about. */
  readonly lineOf?: List<unknown>['lineOf']
  readonly registry: Pick<Registry, 'list' | 'healthOf' | 'faults' | 'holds' | 'shaded' | 'unserved'>
}

/** How many connectors of a kind are in a state; of all kinds where none is named. */
const countOf = ({ registry }: StatusParts, state: ConnectorHealth, kind?: string): number =>
  registry
    .list()
    .filter((entry) => (kind === undefined || entry.kind.kind === kind) && registry.healthOf(entry).state === state)
    .length

const counted = (sentence_: string) => doc(integer({ min: 0 }), sentence_)

/** The member `connectors` of the status. */
export const connectorsSection = (parts: StatusParts): StatusSection => ({
  name: 'connectors',
  schema: object({
    connector_count: counted('Connectors that are listed.'),
    ok_count: counted('Those that are as they should be.'),
    degraded_count: counted('Those of which something does not work.'),
    deaf_count: counted('Those that hear nothing until somebody does something.'),
  }),
  collect: () => ({
    connector_count: parts.registry.list().length,
    ok_count: countOf(parts, 'ok'),
    degraded_count: countOf(parts, 'degraded'),
    deaf_count: countOf(parts, 'deaf'),
  }),
})

/** What `GET /metrics` says of connectors. */
export const connectorMetrics = (parts: StatusParts): readonly Metric[] => [
  {
    name: 'service_connector_state',
    help: 'Connectors by kind and by how they are.',
    type: 'gauge',
    collect: () =>
      connectorKinds.flatMap((kind) =>
        connectorHealths.map((state) => ({ labels: { kind, state }, value: countOf(parts, state, kind) })),
      ),
  },
]

/** Warnings of one sort that are told at most. */
const mostWarnings = 20

const ill = ({ registry }: StatusParts, entry: Entry): Warning[] => {
  const { state, cause = '', action = '' } = registry.healthOf(entry)
  if (state === 'ok') return []
  return [
    {
      severity: state === 'deaf' ? 'error' : 'warning',
      code: `connector_${state}`,
      related_id: idOfEntry(entry),
      message: sentence(`The connector ${entry.kind.kind} ${entry.name} is ${state}: ${cause}`),
      action,
    },
  ]
}

/** By default each message without a session is refused: whoever does not mean it should know. */
const unopened = ({ file }: StatusParts, { kind: { kind }, name, source, settings }: Entry): Warning[] => {
  if (settings.fixed_session_id !== undefined || settings.session_policy?.create_if_missing === true) return []
  return [
    {
      severity: 'info',
      code: 'connector_opens_no_session',
      related_id: `${kind}/${name}`,
      message: `The connector ${kind} ${name} opens no session: messages of which there is none yet are refused.`,
      action:
        source === 'file'
          ? `Let it open them, in its table of ${file}: session_policy = { create_if_missing = true }`
          : `Let it open them: ${changeLine({ kind, name, source }, opening)}`,
    },
  ]
}

/** Who sends from outside is a stranger: an operator knows who may. */
const exposed = (entry: Entry): Warning[] => {
  const { kind, name, source, settings } = entry
  const found = kind.exposure?.(draftOf(entry, settings))
  if (found === undefined) return []
  const { severity, message, action, flags } = found
  return [
    {
      severity,
      code: 'connector_exposed',
      related_id: idOfEntry(entry),
      message: sentence(`The connector ${kind.kind} ${name} ${message}`),
      action: `${action}: ${changeLine({ kind: kind.kind, name, source }, flags)}`,
    },
  ]
}

const misread = (parts: StatusParts): Warning[] =>
  [...parts.registry.faults()].map(([entry, fault]) => {
    const shown = visibleLine(entry).slice(0, 80)
    const line = parts.lineOf?.(entry, fault)
    return {
      severity: 'warning',
      code: 'config_entry_invalid',
      related_id: `connectors/${shown}`,
      message:
        `${parts.file}${line === undefined ? '' : `:${line}`}: [[${shown.replace('/', ']] ')} ${sentence(fault)} ` +
        (parts.registry.holds(entry) ? 'What held before stays.' : 'The entry is left out.'),
      action: `Correct ${parts.file}: it is read again when it is saved.`,
    }
  })

const shaded = ({ registry, file }: StatusParts): Warning[] =>
  registry.shaded().map((id) => ({
    severity: 'warning',
    code: 'connector_shaded',
    related_id: id,
    message: `${file} has ${id.replace('/', ' ')}, which was set up by a request too: that of the file is in force.`,
    action: 'Take it out of the file, and then delete it or leave it as it was set up; or leave the file in force.',
  }))

const unserved = ({ registry }: StatusParts): Warning[] =>
  registry.unserved().map((id) => ({
    severity: 'warning',
    code: 'connector_unserved',
    related_id: id,
    message: `The connector ${id.replace('/', ' ')} is of a kind that no plugin serves now.`,
    action: `See why: ${commandLine('plugins list')}`,
  }))

export const connectorsHealth = (parts: StatusParts): HealthCheck => ({
  id: 'connectors',
  check: () =>
    [
      parts.registry.list().flatMap((entry) => ill(parts, entry)),
      misread(parts),
      shaded(parts),
      unserved(parts),
      parts.registry.list().flatMap(exposed),
      parts.registry.list().flatMap((entry) => unopened(parts, entry)),
    ].flatMap((warnings) => warnings.slice(0, mostWarnings)),
})
