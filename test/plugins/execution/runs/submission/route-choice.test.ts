import test from 'ava'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { type GenerationSettings, type ModelRoute, textOnly } from '../../../../../plugins/execution/models/contract.js'
import { createModels } from '../../../../../plugins/execution/models/models.js'
import { chooseRoute, mergeGeneration } from '../../../../../plugins/execution/runs/submission/route-choice.js'
import { mayUseRoute } from '../../../../../plugins/execution/sessions/settings/effective.js'
import type {
  CredentialScope,
  SessionRecord,
  SessionRoutePolicy,
} from '../../../../../plugins/execution/sessions/contract.js'
import { credentialScope } from '../../../../support/scopes.js'

const route = (route_id: string, model: string): ModelRoute => ({
  route_id,
  provider: route_id,
  model,
  capabilities: textOnly,
  connection: unsafeCast({ readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }) }),
})
const modelsOf = (...routes: ModelRoute[]) => {
  const active = { route_id: 'house', model: routes[0]?.model ?? '' }
  return createModels({ configured: { routes: () => routes, active: () => active, file: '' }, chosen: () => active })
}
const models = modelsOf(route('house', 'house-1'), route('other', 'other-1'))
const session = (more: Partial<SessionRecord> = {}): SessionRecord => ({
  session_id: 's1',
  agent_id: 'a1',
  created_at_ms: 1,
  ...more,
})
const choose = (
  policy: SessionRoutePolicy | undefined,
  over: { provider?: string; generation?: GenerationSettings } = {},
) =>
  chooseRoute({ models, sessions: { mayUseRoute } }, session(policy === undefined ? {} : { route_policy: policy }), {
    content: 'x',
    ...over,
  })

test('models-2: the run comes before the policy of its session, and that before the default route', (t) => {
  t.like(choose(undefined), { provider: 'house', model: 'house-1' })
  t.like(choose({ provider: 'other' }), { provider: 'other', model: 'other-1' })
  t.like(choose({ provider: 'other', generation: { model: 'm' } }), { provider: 'other', model: 'm' })
  t.like(choose({ provider: 'other' }, { provider: 'house' }), { provider: 'house', model: 'house-1' })
  t.like(choose({ provider: 'other', generation: { model: 'm' } }, { generation: { model: 'n' } }), {
    provider: 'other',
    model: 'n',
  })
  t.throws(() => choose({ provider: 'gone' }), { message: /no model route gone/u })
})

test('models-3: models of the policy hold for its own route only', (t) => {
  const policy = { generation: { model: 'm', fallback_model: 'f', temperature: 1 } }
  t.like(choose(policy, { provider: 'house' }), { model: 'm', fallback_model: 'f' })
  t.like(choose(policy, { provider: 'other' }), {
    model: 'other-1',
    fallback_model: undefined,
    generation: { temperature: 1 },
  })
})

test('models-4: generation is merged field by field, and what a type says anyway counts as not set', (t) => {
  const base: GenerationSettings = {
    tool_choice: { type: 'none' },
    allow_parallel_tool_calls: false,
    max_output_tokens: 5,
    temperature: 0.5,
  }
  t.like(
    mergeGeneration(base, {
      tool_choice: { type: 'auto' },
      allow_parallel_tool_calls: true,
      response_format: { type: 'text' },
    }),
    base,
  )
  t.like(mergeGeneration(base, { tool_choice: { type: 'required' }, max_output_tokens: 7, temperature: 0 }), {
    tool_choice: { type: 'required' },
    max_output_tokens: 7,
    temperature: 0,
    allow_parallel_tool_calls: false,
  })
  t.deepEqual(choose(undefined, { generation: { tool_choice: { type: 'auto' }, max_output_tokens: 9 } }).generation, {
    tool_choice: { type: 'auto' },
    max_output_tokens: 9,
  })
})

test('a route outside the credential scope of the session is refused', (t) => {
  const choice = (scope: Partial<CredentialScope>) =>
    chooseRoute({ models, sessions: { mayUseRoute } }, session({ credential_scope: credentialScope(scope) }), {
      content: 'x',
    }).provider
  t.is(choice({}), 'house')
  t.is(choice({ route_allow: unsafeCast(['*']) }), 'house')
  for (const scope of [
    { route_allow: ['other'] },
    { route_deny: ['house'] },
    { route_allow: ['house'], route_deny: ['*'] },
  ]) {
    t.throws(() => choice(unsafeCast(scope)), { message: /does not allow the model route house/u })
  }
})

test('models-5: a setting that the provider of the route cannot pass on is refused, never dropped', (t) => {
  const structured: GenerationSettings = {
    response_format: { type: 'structured_json', schema: { type: 'object' } },
    reasoning: { effort: 'high' },
  }
  t.like(
    t.throws(() => choose(undefined, { generation: structured })),
    { code: 'generation_unsupported', occurrence: { errors: [{ path: 'body.generation.reasoning' }] } },
  )
  t.throws(() => choose({ generation: { response_format: structured.response_format } }), {
    code: 'generation_unsupported',
  })
  t.notThrows(() => choose(undefined, { generation: { response_format: { type: 'text' }, reasoning: {} } }))
  const able = modelsOf({
    ...route('house', 'm'),
    generation: ['reasoning.effort', 'response_format.structured_json'],
  })
  const chosen = (policy: SessionRoutePolicy, generation: GenerationSettings) =>
    chooseRoute({ models: able, sessions: { mayUseRoute } }, session({ route_policy: policy }), {
      content: 'x',
      generation,
    }).generation
  t.deepEqual(chosen({ generation: structured }, { response_format: { type: 'text' }, reasoning: { effort: 'low' } }), {
    reasoning: { effort: 'low' },
    response_format: structured.response_format,
  })
  t.throws(() => chosen({}, { reasoning: { budget_tokens: 5 } }), { code: 'generation_unsupported' })
})
