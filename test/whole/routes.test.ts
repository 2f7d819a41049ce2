/** Each route is called by a test of its own, not only by the suites that call all of them. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { filesBelow, root } from '../conventions/files.js'
import { startTestDaemon } from '../support/daemon.js'
import { access } from './access.js'
import { operationsOf } from './client.js'

/** Tests that name what they call. This suite itself does not count. */
const lines = filesBelow('test')
  .filter((file) => file.endsWith('.ts') && !file.startsWith('test/whole/'))
  .flatMap((file) => readFileSync(path.join(root, file), 'utf8').split('\n'))

/** `/v1/runs/{run_id}/cancel` as a test writes it: with an id or an expression for the parameter. */
const written = (template: string): RegExp =>
  new RegExp(
    `${template.replaceAll(/[.]/gu, '\\.').replaceAll(/\{\w+\}/gu, '(?:\\$\\{[^}]+\\}|[\\w-]+)')}(?:['"\`?]|$)`,
    'u',
  )

test('every route is called by its method and path in a test beside those that call all routes', async (t) => {
  const operations = operationsOf((await (await startTestDaemon(t)).request('GET', '/v1/openapi.json')).body)
  t.true(operations.length >= Object.keys(access).length)
  const uncalled = operations.filter(({ template, method }) => {
    const several = operations.filter((other) => other.template === template).length > 1
    const at = written(template)
    return !lines.some((line) => at.test(line) && (!several || line.includes(`'${method}'`)))
  })
  t.deepEqual(
    uncalled.map(({ id, method, template }) => `${id}: ${method} ${template}`),
    [],
  )
})
