// @ts-check
// The example of the first visit: imatinib, a leukaemia drug whose syntheses are in textbooks.

export const EXAMPLE = { smiles: "CN1CCN(Cc2ccc(cc2)C(=O)Nc2ccc(C)c(Nc3nccc(n3)-c3cccnc3)c2)CC1", preset: "fast" };
