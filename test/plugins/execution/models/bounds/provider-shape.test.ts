/** A provider of a plugin that no compiler has checked is refused as a whole where one member is wrong. */
import test from 'ava'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ModelProviders, RouteBackends, textOnly } from '../../../../../plugins/execution/models/contract.js'
import { rootWith } from '../../../../support/broken-plugins.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'

const good = { id: 'own', summary: 'Mine.', capabilities: textOnly, connect() {} }
const server = { route_id: 'mine', name: 'Mine', base_url: 'http://127.0.0.1:1/v1' }
const check = (more: object): string | undefined => ModelProviders.check?.({ ...good, ...more } as any)

const wrong: readonly (readonly [object, string])[] = [
  [{ id: 'Own' }, 'the id "Own"'],
  [{ connect: 7 }, 'the function connect'],
  [{ summary: 7 }, 'summary must be a string'],
  [{ summary: undefined }, 'summary is required'],
  [{ default_model: 7 }, 'default_model must be a string'],
  [{ default_model: 'two words' }, 'default_model must'],
  [{ capabilities: {} }, 'capabilities.multimodal_input is required'],
  [{ capabilities: { ...textOnly, multimodal_input: 'yes' } }, 'capabilities.multimodal_input must be a boolean'],
  [{ context: 'all' }, 'context must be "run"'],
  [{ generation: 7 }, 'generation must be an array'],
  [{ generation: ['zz'] }, 'generation.0 must be one of'],
  [{ family: 7 }, 'family must be an object'],
  [{ family: null }, 'family must not be null'],
  [{ family: { rule: 'be mine', has: 7 } }, 'family.has must be a function'],
  [{ searches: 7 }, 'searches must be a function'],
  [{ context_window: 7 }, 'context_window must be a function'],
  [{ secrets_of: 7 }, 'secrets_of must be an array'],
  [{ key_variables: 7 }, 'key_variables must be an array'],
  [{ key_variables: [7] }, 'key_variables.0 must be a string'],
  [{ vendor_options: ['zz'] }, 'vendor_options.0 must be one of'],
  [{ local_servers: 7 }, 'local_servers must be an array'],
  [{ local_servers: [{ ...server, base_url: 'mine' }] }, 'local_servers.0.base_url must be an http or https URL'],
]

class Own {
  id = 'own'
  summary = 'Mine.'
  capabilities = textOnly
  connect(): void {}
  searches = undefined
  context_window(): undefined {}
}

test('models-82: a provider with a member of another kind is refused, with its name and that of the member', (t) => {
  for (const [more, words] of wrong) {
    const told = check(more) ?? 'nothing'
    t.true(told.includes(words), `${words}: ${told}`)
    if (!('id' in more) && !('connect' in more)) t.regex(told, /^the model provider own is wrong: /u)
  }
  const whole = {
    default_model: 'm',
    context: 'run',
    generation: ['reasoning.effort'],
    family: { rule: 'be mine', has: () => true },
    searches: () => true,
    secrets_of: ['mine'],
    key_variables: ['OWN_API_KEY'],
    vendor_options: ['project'],
    local_servers: [server],
    more: 7,
  }
  for (const more of [{}, whole]) t.is(check(more), undefined)
  t.is(ModelProviders.check?.(new Own() as any), undefined)
})

test('models-82: a back end of routes whose lists are none is refused', (t) => {
  const backend = { id: 'own', providers: ['own'], capabilities: ['transcription'] }
  t.is(RouteBackends.check?.(backend as any), undefined)
  for (const more of [{ providers: {} }, { capabilities: {} }, { capabilities: ['zz'] }])
    t.regex(RouteBackends.check?.({ ...backend, ...more } as any) ?? '', /^the back end of routes own is wrong: /u)
})

test('models-82: the plugin of such a provider is left out alone, and the daemon serves without it', async (t) => {
  const root = await rootWith('odd-provider')
  const routes = 'default_route = "main"\n[routes.main]\ndriver = "demo"\n[routes.odd]\ndriver = "odd"\n'
  await writeFile(path.join(root, 'config', 'routes.toml'), routes)
  const daemon = await startTestDaemon(t, { root })
  const plugins = daemon.daemon.view.plugins()
  const refused = plugins.find(({ id }) => id === 'odd-provider')
  t.regex(refused?.reason ?? '', /the model provider odd is wrong: family must be an object, /u)
  t.deepEqual(
    plugins.filter(({ fault_count: count }) => count > 0).map(({ id }) => id),
    ['odd-provider'],
  )
  await openSession(daemon)
  t.is((await until(daemon, (await submit(daemon, 's1', '/say hello')).run_id, 'completed')).status, 'completed')
  t.is((await daemon.request('GET', '/v1/runtime/providers')).status, 200)
  const { routes: told } = (await daemon.request('GET', '/v1/status')).body.provider_readiness
  t.deepEqual(
    told.map(({ code }: any) => code),
    ['ready', 'provider_unknown'],
  )
})
