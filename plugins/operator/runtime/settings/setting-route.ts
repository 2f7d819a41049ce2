import {
  boolean,
  defineRoute,
  doc,
  integer,
  jsonReply,
  object,
  optional,
  unsafeCast,
  type AnyStruct,
  type Infer,
  type Route,
} from '../../../../core/plugin.js'
import { secretErrors } from '../../secrets/contract.js'
import type { Asked, RuntimeSetting, Settings, Wish } from './setting.js'
import { settingErrors } from './errors.js'

/** Of every body that changes settings. */
export const expectedRevision = {
  expected_revision: optional(
    doc(integer({ min: 0 }), 'The revision that was seen, 0 for none: refused if the settings are at another one.'),
  ),
  skip_hooks: optional(doc(boolean(), 'True to ask no hook whether the settings may change.')),
}

/** The route that changes a setting: `POST /v1/runtime/<path>`. */
export const settingRoute = <S extends AnyStruct, B extends Record<string, AnyStruct>>(
  settings: Settings,
  setting: RuntimeSetting<S, B>,
): Route => {
  const { path, summary, fields, value, invalid, problems = [], example } = setting.change
  return defineRoute({
    id: `runtime.set_${setting.name}`,
    method: 'POST',
    path: `/v1/runtime/${path}`,
    summary,
    access: 'admin',
    body: object<Record<string, AnyStruct>>({ ...fields, ...expectedRevision }),
    ...(invalid !== undefined && { invalidBody: invalid }),
    reply: jsonReply(settings.view.schema),
    problems: [
      settingErrors.runtime_revision_conflict,
      settingErrors.runtime_change_blocked,
      secretErrors.secrets_key_unusable,
      ...problems,
      ...(invalid === undefined ? [] : [invalid]),
    ],
    durability: 'A',
    example: { body: example },
    handler: ({ body }) => {
      const { expected_revision, skip_hooks, ...asked } = unsafeCast<Asked<B> & Wish>(body)
      const next = (now: Infer<S>): Infer<S> => value(unsafeCast<Asked<B>>(asked), now)
      return settings.change(setting, next, { expected_revision, skip_hooks })
    },
  })
}
