/** Crash tests count these calls and die at each one in turn; everybody else leaves it alone. */
let onStep: (name: string) => void = () => {};

export function observeSteps(observer: (name: string) => void): void {
  onStep = observer;
}

/** Announced before every change of the outside world, so that a kill can be tried there. */
export function step(name: string): void {
  onStep(name);
}
