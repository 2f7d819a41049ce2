/** Settings whose kept value cannot hold any more: why, and what is told of them. */
import {
  Problem,
  commandLine,
  isPluginFailed,
  parse,
  sentence,
  type Json,
  type Warning,
} from '../../../../core/plugin.js'
import { isSealed } from '../../secrets/contract.js'
import type { RuntimeSetting, Settings } from './setting.js'

export interface Unfit {
  readonly setting: RuntimeSetting
  /** What is kept. */
  readonly value: Json
  readonly why: string | undefined
}

/** Whether a value has the form of its setting. */
export const fits = ({ schema }: RuntimeSetting, value: Json): boolean => {
  try {
    return parse(schema, value).ok
  } catch {
    return false
  }
}

/** Why a value cannot hold; undefined if it can. */
export const faultOf = ({ schema, check, secret }: RuntimeSetting, value: Json): string | undefined => {
  // A schema may take any object, and so what is sealed.
  if (secret === true && isSealed(value)) return 'it cannot be decrypted, its key is not here'
  try {
    const read = parse(schema, value)
    if (!read.ok) return read.issues.map(({ path, rule }) => `${path || 'it'} ${rule}`).join('; ')
    check?.(value)
    return undefined
  } catch (error) {
    return error instanceof Problem ? error.message : 'it cannot be looked at'
  }
}

export const unfitWarnings = (
  unfit: readonly Unfit[],
  { isLocked, get, hasKey }: Pick<Settings, 'isLocked' | 'get'> & { readonly hasKey: () => boolean },
): readonly Warning[] =>
  unfit.map((one) => (isLocked(one.setting) ? lockedWarning(one.setting, hasKey()) : unfitWarning(one, get)))

/** The command line that goes on without what is kept of a setting with secrets, and needs no key. */
export const lineWithout = ({ emptiedBy }: RuntimeSetting): string =>
  emptiedBy ?? commandLine('runtime rollback --target-revision 0')

/** A key that is here opens what is newer. */
const putBack = (hasKey: boolean): string =>
  hasKey
    ? 'Put that key into a file of its own with mode 0600, and start again with it as --secrets-previous-key-file.'
    : 'Put the key back as secrets/slots.key in the state root with mode 0600 and start again.'

const lockedWarning = (setting: RuntimeSetting, hasKey: boolean): Warning => ({
  severity: 'error',
  code: 'setting_locked',
  message:
    `What was kept of the setting ${setting.name} cannot be decrypted: ` +
    (hasKey ? 'the key that is here is another one. Leave it where it is.' : 'its key is not here.'),
  action: `${putBack(hasKey)} ` + `To go on without what was kept: ${lineWithout(setting)}`,
  related_id: setting.name,
})

/** Signs of a kept value. */
const mostValue = 200

/** The line that sets it to what holds, if one can, and that is known. */
const setLine = (setting: RuntimeSetting, get: Settings['get']): string | undefined => {
  try {
    return setting.setBy?.(get(setting))
  } catch (error) {
    if (isPluginFailed(error)) return undefined
    throw error
  }
}

const unfitWarning = ({ setting, value, why = '' }: Unfit, get: Settings['get']): Warning => {
  const { name, secret, emptiedBy } = setting
  const kept = secret === true ? '' : ` (${JSON.stringify(value).slice(0, mostValue)})`
  // A line that sets one with secrets would tell them.
  const line = (secret === true ? undefined : setLine(setting, get)) ?? emptiedBy
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
