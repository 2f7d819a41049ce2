import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createEnvironmentLine, runLine } from '../../../../support/command-line.js'
import { makeFolder } from '../../../../support/tools.js'

test('models-66: a file of routes is looked at as a daemon would, each fault with its line, and no daemon is asked', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  const look = async (text: string) => {
    writeFileSync(file, text)
    return runLine('doctor', 'routes', '--routes-file', file)
  }
  const ours = 'default_route = "a"\n[routes.a]\ndriver = "demo"\n'
  writeFileSync(file, ours)
  const elsewhere = createEnvironmentLine({ SERVICE_DEFAULT_ROUTE: 'z', SERVICE_MCP_PROFILES: 'nosuch' })
  t.is((await elsewhere('doctor', 'routes', '--routes-file', file)).code, 0)
  const good = await look(
    'default_route = "a"\n[routes.a]\ndriver = "demo"\n' +
      '[routes.b]\ndriver = "openai"\ndefault_model = "gpt-5.4"\nauth_ref = "models.b"\n',
  )
  t.deepEqual(good, {
    code: 0,
    out:
      'well  route a: is one that a daemon takes\n' +
      'well  route b: is one that a daemon takes; its key is not here, and was not looked for\n\nAll is well.\n',
    err: '',
  })
  const wrong = await look(
    'default_route = "a"\n[routes.a]\ndriver = "nosuch"\n\n[routes.b]\ndriver = "demo"\nmodel_support = "some"\n\n' +
      '[routes.c]\ndriver = "openai"\nauth_ref = "x"\napi_key = "canary-of-file"\n\n' +
      '[routes.d]\ndriver = "openai"\ndefault_model = "claude"\n',
  )
  t.is(wrong.code, 1)
  t.regex(wrong.out, /^WRONG mine\.toml:7: \[routes\.b\] model_support must be .*\(route_invalid\)$/mu)
  t.regex(wrong.out, /^WRONG mine\.toml:9: \[routes\.c\] may have one of auth_ref and api_key, not both/mu)
  t.regex(
    wrong.out,
    /^WRONG route a: No plugin provides the model provider nosuch\. \(provider_unknown\)\n {6}Set driver in \[routes\.a\] of mine\.toml/mu,
  )
  t.regex(wrong.out, /^WRONG route d: .*\(model_family_mismatch\)$/mu)
  t.regex(wrong.out, /^4 of 4 are not well\.$/mu)
  t.notRegex(wrong.out, /canary/u)
})

test('models-66: each fault of an entry is told', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  writeFileSync(
    file,
    'default_route = "a"\n[routes.a]\ndriver = "demo"\n[routes.b]\ndriver = "demo"\nmodel_support = "some"\n' +
      'idle_timeout_ms = 5\nauth_ref = "x"\napi_key = "y"\nproject = "p"\nproject_env = "P"\n',
  )
  const { out } = await runLine('doctor', 'routes', '--routes-file', file)
  t.regex(out, /^WRONG mine\.toml:6: \[routes\.b\] model_support must be/mu)
  t.regex(out, /^WRONG mine\.toml:7: \[routes\.b\] idle_timeout_ms must be/mu)
  t.regex(out, /^WRONG mine\.toml:4: \[routes\.b\] may have one of auth_ref and api_key, not both/mu)
  t.regex(out, /^WRONG mine\.toml:4: \[routes\.b\] may have one of project and project_env, not both/mu)
})

test('models-66: a file that is none, or whose default route is none of its routes, is told so', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  const look = async (text: string) => {
    writeFileSync(file, text)
    return runLine('doctor', 'routes', '--routes-file', file, '--output', 'json')
  }
  const broken = await look('[routes.a]\ndriver = \n')
  t.is(broken.code, 1)
  t.like(JSON.parse(broken.out).checks, [{ about: 'mine.toml:2', ok: false, code: 'route_invalid' }])
  const beside = await look('version = 2\n[routes.a]\ndriver = "demo"\n')
  t.like(JSON.parse(beside.out).checks[0], { about: 'mine.toml:1', ok: false })
  const lost = await look('default_route = "z"\n[routes.a]\ndriver = "demo"\n')
  t.is(lost.code, 1)
  t.regex(lost.out, /routes\.toml:1: The default_route z is none of the routes; did you mean a\?/u)
  const missing = await runLine('doctor', 'routes', '--routes-file', `${file}.not`)
  t.is(missing.code, 1)
  t.regex(missing.err, /mine\.toml\.not/u)
  const together = await runLine('doctor', 'routes', '--routes-file', file, '--canary')
  t.is(together.code, 2)
  t.regex(together.err, /--canary does not go with --routes-file/u)
})
