/** Settings whose kept value cannot hold any more: why, and what is told of them. */
import { Problem, commandLine, parse, sentence, type Json, type Warning } from '../../../../core/plugin.js'
import type { RuntimeSetting, Settings } from './setting.js'

export interface Unfit {
  readonly setting: RuntimeSetting
  /** What is kept. */
  readonly value: Json
  readonly why: string | undefined
}

/** Why a value cannot hold; undefined if it can. */
export const faultOf = ({ schema, check }: RuntimeSetting, value: Json): string | undefined => {
  const read = parse(schema, value)
  if (!read.ok) return read.issues.map(({ path, rule }) => `${path || 'it'} ${rule}`).join('; ')
  try {
    check?.(value)
    return undefined
  } catch (error) {
    return error instanceof Problem ? error.message : 'it cannot be looked at'
  }
}

export const unfitWarnings = (
  unfit: readonly Unfit[],
  { isLocked, get }: Pick<Settings, 'isLocked' | 'get'>,
): readonly Warning[] =>
  unfit.map((one) => (isLocked(one.setting) ? lockedWarning(one.setting) : unfitWarning(one, get(one.setting))))

const lockedWarning = ({ name, emptiedBy }: RuntimeSetting): Warning => ({
  severity: 'error',
  code: 'setting_locked',
  message: `What was kept of the setting ${name} cannot be decrypted: its key is not here.`,
  action:
    'Put the key back as secrets/slots.key in the state root with mode 0600 and start again. ' +
    `To go on without what was kept: ${emptiedBy ?? commandLine('runtime rollback --target-revision 0')}`,
  related_id: name,
})

/** Signs of a kept value. */
const mostValue = 200

const unfitWarning = ({ setting, value, why = '' }: Unfit, now: unknown): Warning => {
  const { name, secret, setBy, emptiedBy } = setting
  const kept = secret === true ? '' : ` (${JSON.stringify(value).slice(0, mostValue)})`
  const line = setBy?.(now) ?? emptiedBy
  return {
    severity: 'warning',
    code: 'setting_unfit',
    message:
      `${sentence(`What was kept of the setting ${name}${kept} cannot hold any more: ${why}`)} ` +
      'The last value that can is in force.',
    action:
      line === undefined
        ? `See what holds now, and set it again: ${commandLine('runtime get')}`
        : `Mend what it lacks, or go on without what was kept: ${line}`,
    related_id: name,
  }
}
