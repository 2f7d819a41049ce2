import test from 'ava'
import { pluginOf } from '../../../../core/host/load/candidate.js'

const versioned = (version: string) =>
  pluginOf({ default: { id: 'odd', version, api: 1, summary: 'It is odd.', register: () => {} } }, {})

test('a version of a plugin is a word, which begins no line and steers no terminal', (t) => {
  for (const version of ['1', '1.0.0', '2.0.0-beta.1+build_7']) t.is(versioned(version).version, version)
  for (const version of ['', '1.0.0\nx', '1.0.0\u001b[31m', '\ud800', '-1', '1'.repeat(65)])
    t.throws(() => versioned(version), { message: /version must /u }, version)
})
