/** Generated faults that no test can notice, or none has to, and why: by package and name. */
export const SURVIVORS: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
