"""scikit-learn's five naive Bayes classifiers, thin shells over one exact table of counts."""
