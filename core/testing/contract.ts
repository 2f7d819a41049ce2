/**
 * What the test of a plugin uses, with any test runner: `holdfast/testing`. Nothing here knows a test runner; a check
 * that does not hold is data, and `assertPassed` throws.
 */
export { checkPlugin } from './check-plugin.js'
export type { PluginCheckOptions } from './check-plugin.js'
export { assertPassed } from './check-result.js'
export type { AssertOptions, CheckResult } from './check-result.js'
export { createTestDaemon } from './create-test-daemon.js'
export type { Companion, TestDaemon, TestDaemonOptions } from './create-test-daemon.js'
export type { DiskFault, DiskFaults } from './faulty-disk.js'
export type { LeapingClock } from './leaping-clock.js'
export type { Answer, Ask, Headers } from './send.js'
export type { LogEntry } from './test-daemon.js'
